"""Reads `evals.json` files, and the same keys in YAML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import cast

from steelyard.contracts.evals_json.inline_checks import (
    LINT,
    MARKDOWN,
    PHRASES,
    evaluators,
    further_demands,
)
from steelyard.contracts.message_rows import beyond
from steelyard.contracts.reading import Row, RowPlace, SeenIds, located_finding
from steelyard.contracts.schemas import load_schema
from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import parse_json_either_way
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding, error
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message

CONTRACT = "evals_json"
MAX_FILE = 100 * 1024 * 1024
_HEADER = {"skill_name", "evals"}
_NAMED = {"id", "prompt", "expected_output", *PHRASES, LINT, MARKDOWN}


@cache
def _schema(pointer: str) -> Schema:
    return Schema(load_schema(CONTRACT), pointer)


class EvalsJsonReading:
    """An opened evals file."""

    contract = CONTRACT

    def __init__(self, content: bytes | Located, stem: str, *, file: str | None = None) -> None:
        self._id = stem.removesuffix(".evals")
        self._file = file
        self._lines = content.lines if isinstance(content, Located) else None
        self._header: JsonObject = {}
        self._evals: list[JsonValue] = []
        self._odd: dict[int, list[Problem]] = {}
        """What the fast parser could not read, by eval."""
        self.findings = self._open(content)

    @property
    def is_spoiled(self) -> bool:
        """Whether the file as a whole is wrong, so that no eval counts."""
        return any(finding.is_error for finding in self.findings)

    def rows(self) -> Iterator[Row]:
        """Every eval in order; a bad one is a row with error findings."""
        seen = SeenIds()
        schema = _schema("#/$defs/eval")
        for index, value in enumerate(self._evals):
            is_clean = index not in self._odd and schema.is_clean(value)
            found = [] if is_clean else [*self._odd.get(index, ()), *schema.problems(value)]
            record_id = _record_id(value)
            if record_id is not None and not seen.add(record_id):
                found.append(_duplicate(record_id))
            lines = self._eval_lines(index)
            place = RowPlace(index, record_id, ("evals", index), lines=lines)
            findings = tuple(place.finding(problem) for problem in sorted(found, key=path_order))
            yield Row(index, lines.line if lines else None, record_id, value, findings)

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        value = cast(JsonObject, row.value)
        extra = beyond(value, _NAMED)
        further = further_demands(value)
        if further:
            extra[MARKDOWN] = further
        return Case(
            id=cast(str, row.record_id),
            dataset=self._id,
            input_messages=(Message(role="user", content=cast(str, value["prompt"])),),
            expected_outcome=cast(str, value.get("expected_output", "")),
            evaluators=tuple(evaluators(value)),
            extra=extra,
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The eval itself."""
        return row.value

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases; a spoiled file has no header to trust."""
        extra = beyond(self._header, _HEADER)
        return Dataset(id=self._id, contract=CONTRACT, cases=cases, extra=extra)

    def _open(self, content: bytes | Located) -> tuple[Finding, ...]:
        try:
            value, odd = _parsed(content)
        except ParseError as wrong:
            said = f"invalid JSON: {wrong}" if wrong.code == "invalid_json" else str(wrong)
            return (error(wrong.code, said, line=wrong.line),)
        problems = [problem for problem in odd if not self._is_of_an_eval(problem)]
        if isinstance(value, dict) and isinstance(value.get("evals"), list):
            self._evals = cast(list[JsonValue], value["evals"])
            # Evals are checked one by one, not with the header.
            value = {**value, "evals": []}
        problems.extend(_schema("#").problems(value))
        if isinstance(value, dict) and not any(one.severity == "error" for one in problems):
            self._header = value
            self._id = cast(str, value.get("skill_name", self._id))
        return tuple(
            located_finding(problem, self._lines) for problem in sorted(problems, key=path_order)
        )

    def _is_of_an_eval(self, problem: Problem) -> bool:
        """Whether a problem of the text concerns one eval, which then keeps it."""
        match problem.path:
            case ("evals", int(index), *path):
                self._odd.setdefault(index, []).append(replace(problem, path=tuple(path)))
                return True
            case _:
                return False

    def _eval_lines(self, index: int) -> Lines | None:
        return self._lines and self._lines.children["evals"].children[index]


def _parsed(content: bytes | Located) -> tuple[JsonValue, tuple[Problem, ...]]:
    """The value of a document, and what is wrong with single texts and numbers in it."""
    if isinstance(content, Located):
        return content.value, ()
    if len(content) > MAX_FILE:
        raise ParseError("the file is larger than 100 MB", code="payload_too_large")
    require_utf8(content)
    return parse_json_either_way(without_bom(content))


def _record_id(value: JsonValue) -> str | None:
    """The id as a text: a number and its digits are the same id."""
    written = value.get("id") if isinstance(value, dict) else None
    if isinstance(written, float) and written.is_integer():
        written = int(written)
    if isinstance(written, int) and not isinstance(written, bool):
        return str(written)
    return written if isinstance(written, str) else None


def _duplicate(record_id: str) -> Problem:
    message = f"{{}} '{record_id}' is used by an earlier eval"
    return Problem(code="duplicate_record_id", message=message, path=("id",))
