"""Reads contract 1: JSONL, one row a case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import BinaryIO

from steelyard.contracts.content import content_and_repeats
from steelyard.contracts.contract import DatasetFile
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.legal_eval.cases import build_case
from steelyard.contracts.legal_eval.policies import Policies, built_in_policies
from steelyard.contracts.legal_eval.rules import RowRules, unknown_fields
from steelyard.contracts.legal_eval.writer import case_row
from steelyard.contracts.reading import Row, RowPlace, duplicate_id, reread_lines
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.json_keys import repeated_keys
from steelyard.formats.json_text import (
    parse_json_counted,
    parse_json_tolerantly,
)
from steelyard.formats.jsonl import MAX_LINE, jsonl_lines
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.ports import Files, NoFiles

CONTRACT = "legal_eval"


@cache
def _schema() -> Schema:
    return Schema(load_schema(CONTRACT))


def read_legal_eval(file: DatasetFile, policies: Policies | None = None) -> LegalEvalJsonl:
    """A file of rows; the policies of plug-ins are known where they are given."""
    assert callable(file.content)
    return LegalEvalJsonl(
        file.content, file.name, files=file.files, file=file.path, policies=policies
    )


class LegalEvalJsonl:
    """An opened file; lines are read as they are asked for, and one bad line spoils no other."""

    contract = CONTRACT
    is_spoiled = False

    def __init__(
        self,
        stream: Callable[[], BinaryIO],
        name: str,
        *,
        files: Files | None = None,
        file: str | None = None,
        policies: Policies | None = None,
    ) -> None:
        self.findings: tuple[Finding, ...] = ()
        self._stream = stream
        self._name = name
        self._file = file
        self._files = files or NoFiles()
        self._schema = _schema()
        self._rules = RowRules(policies or built_in_policies(), self._files)

    def rows(self) -> Iterator[Row]:
        """Every line that is not blank; `index` counts them, `line` is the physical line."""
        seen = SeenIds()
        with self._stream() as stream:
            for index, (number, text) in enumerate(jsonl_lines(stream)):
                yield self._row(index, number, text, seen)

    def reread(self, is_wanted: Callable[[int], bool]) -> Iterator[Row]:
        """The rows at wanted indices, unchecked: every row of the file was accepted before."""
        with self._stream() as stream:
            yield from reread_lines(stream, is_wanted)

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        place = Place(file=self._file, line=row.line, index=row.index)
        return build_case(fields(row.value), self._files, place)

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The row, and the hash of every document that was read for it."""
        written = case_row(case)
        written["files"] = file_hashes(case)
        return written

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases; its rows say themselves where they come from."""
        return Dataset(id=self._name, contract=CONTRACT, cases=cases)

    def _row(self, index: int, number: int, text: bytes, seen: SeenIds) -> Row:
        if len(text) > MAX_LINE:
            problem = Problem(code="record_too_large", message="the line is longer than 64 MB")
            return _refused(index, number, problem)
        try:
            value, colons = parse_json_counted(text)
        except ParseError as wrong:
            return self._second_look(index, number, text, wrong, seen)
        content, repeated = content_and_repeats(text, value, colons)
        if repeated or not self._schema.is_clean(value):
            return self._checked(index, number, value, seen, repeated)
        row = fields(value)
        found = self._rules.problems(row)
        record_id = text_field(row, "id")
        if not seen.add(record_id):
            found.append(duplicate_id(record_id, "row"))
        findings = _findings(index, number, record_id, found)
        return Row(index, number, record_id, value, findings, content)

    def _second_look(
        self, index: int, number: int, text: bytes, wrong: ParseError, seen: SeenIds
    ) -> Row:
        """A row that the fast parser refused: one with an odd string, or no JSON at all."""
        try:
            look = parse_json_tolerantly(text)
        except ParseError:
            return _refused(index, number, _not_json(wrong))
        found = [*look.problems, *repeated_keys(text, look.value)]
        return self._checked(index, number, look.value, seen, found)

    def _checked(
        self, index: int, number: int, value: JsonValue, seen: SeenIds, found: list[Problem]
    ) -> Row:
        """A row with everything that is wrong with it."""
        odd = {problem.path for problem in found if problem.severity == "error"}
        shape = self._schema.problems(value)
        found.extend(problem for problem in shape if problem.path not in odd)
        found.extend(unknown_fields(value))
        if not any(problem.severity == "error" for problem in found):
            found.extend(self._rules.problems(fields(value)))
        name = value.get("id") if isinstance(value, dict) else None
        record_id = name if isinstance(name, str) else None
        if record_id is not None and not seen.add(record_id):
            found.append(duplicate_id(record_id, "row"))
        return Row(index, number, record_id, value, _findings(index, number, record_id, found))


def _findings(
    index: int, number: int, record_id: str | None, found: list[Problem]
) -> tuple[Finding, ...]:
    if not found:
        return ()
    place = RowPlace(index, record_id, line=number)
    return tuple(place.finding(problem) for problem in sorted(found, key=path_order))


def _refused(index: int, number: int, problem: Problem) -> Row:
    """A row of which nothing is known but that it is wrong."""
    return Row(index, number, None, None, _findings(index, number, None, [problem]))


def _not_json(wrong: ParseError) -> Problem:
    prefix = "invalid JSON: " if wrong.code == "invalid_json" else ""
    return Problem(code=wrong.code, message=f"{prefix}{wrong}")
