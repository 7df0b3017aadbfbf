"""Reads `evals.json` files, and the same keys in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from steelyard.contracts.contract import DatasetFile
from steelyard.contracts.evals_json.assertions import assertion_problems, statements
from steelyard.contracts.evals_json.inline_checks import (
    LINT,
    MARKDOWN,
    PHRASES,
    evaluators,
    further_demands,
)
from steelyard.contracts.evals_json.input_files import file_problems, input_message
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.listed_document import ListedDocument
from steelyard.contracts.message_rows import beyond
from steelyard.contracts.reading import Row, duplicate_id
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import fields, text_field
from steelyard.formats.lines import Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.ports import Files, NoFiles

CONTRACT = "evals_json"
MAX_FILE = 100 * 1024 * 1024
_HEADER = {"skill_name", "evals"}
_NAMED = {"id", "prompt", "expected_output", *PHRASES, LINT, MARKDOWN}


@cache
def _schema(pointer: str) -> Schema:
    return Schema(load_schema(CONTRACT), pointer)


def read_evals_json(file: DatasetFile) -> EvalsJsonReading:
    """A document of evals."""
    assert not callable(file.content)
    return EvalsJsonReading(file.content, file.name, files=file.files, file=file.path)


class EvalsJsonReading:
    """An opened evals file."""

    contract = CONTRACT

    def __init__(
        self,
        content: bytes | Located,
        stem: str,
        *,
        files: Files | None = None,
        file: str | None = None,
    ) -> None:
        self._file = file
        self._files = files or NoFiles()
        self._document = ListedDocument(content, "evals", _schema("#"), MAX_FILE)
        self.findings = self._document.findings
        self.is_spoiled = self._document.is_spoiled
        self._id = text_field(self._document.header, "skill_name", stem.removesuffix(".evals"))

    def rows(self) -> Iterator[Row]:
        """Every eval in order; a bad one is a row with error findings."""
        seen, document = SeenIds(), self._document
        schema = _schema("#/$defs/eval")
        for index, value in enumerate(document.items):
            is_clean = not document.odd(index) and schema.is_clean(value)
            found = [] if is_clean else [*document.odd(index), *schema.problems(value)]
            if not any(problem.severity == "error" for problem in found):
                found += assertion_problems(fields(value))
                found += file_problems(fields(value), self._files)
            record_id = _record_id(value)
            if record_id is not None and not seen.add(record_id):
                found.append(duplicate_id(record_id, "eval"))
            findings = self._findings(index, record_id, found) if found else ()
            yield Row(index, document.line(index), record_id, value, findings)

    def _findings(
        self, index: int, record_id: str | None, found: list[Problem]
    ) -> tuple[Finding, ...]:
        place = self._document.place(index, record_id)
        return tuple(place.finding(problem) for problem in sorted(found, key=path_order))

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        value = fields(row.value)
        extra = beyond(value, _NAMED)
        further = further_demands(value)
        if further:
            extra[MARKDOWN] = further
        assert row.record_id is not None
        return Case(
            id=row.record_id,
            dataset=self._id,
            input_messages=(input_message(value, self._files),),
            expected_outcome=text_field(value, "expected_output", ""),
            evaluators=(*evaluators(value), *statements(value)),
            extra=extra,
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """The eval itself, and the hash of every file that it shows."""
        hashes = file_hashes(case)
        return {**fields(row.value), "files": hashes} if hashes else row.value

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases; a spoiled file has no header to trust."""
        extra = beyond(self._document.header, _HEADER)
        return Dataset(id=self._id, contract=CONTRACT, cases=cases, extra=extra)


def _record_id(value: JsonValue) -> str | None:
    """The id as a text: a number and its digits are the same id."""
    written = value.get("id") if isinstance(value, dict) else None
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, int) and not isinstance(written, bool):
        return str(written)
    return written if isinstance(written, str) else None
