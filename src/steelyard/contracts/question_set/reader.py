"""Reads contract 4's dataset: a YAML or JSON document with a list of questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, cast

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

CONTRACT = "question_set"
_REF = ("rubric_ref",)
_REFERENCE = "write rubric/id@version, such as rubric/basic@1.2"
_HEADER = {"description", "version", "metadata", "questions"}
_NAMED = {
    *("id", "input", "criteria", "expected", "expected_facts", "expected_tools", "rubric_ref"),
    *("bundle", "metadata"),
}


_POINTER = "#/$defs/question"


@cache
def _header_schema() -> Schema:
    return Schema(load_schema(CONTRACT))


@lru_cache(maxsize=64)
def _question_schema(further: frozenset[str] = frozenset()) -> Schema:
    """The schema of a question that may have these further fields."""
    document: Any = load_schema(CONTRACT)
    question = document["$defs"]["question"]
    declared: JsonObject = {name: {} for name in sorted(further)}
    extended: JsonObject = {**question, "properties": {**declared, **question["properties"]}}
    return Schema({**document, "$defs": {**document["$defs"], "question": extended}}, _POINTER)


class QuestionSetReading:
    """An opened question set."""

    contract = CONTRACT

    def __init__(self, content: bytes | Located, stem: str, *, file: str | None = None) -> None:
        self._stem = stem
        self._file = file
        self._lines = content.lines if isinstance(content, Located) else None
        self._header: JsonObject = {}
        self._questions: list[JsonValue] = []
        self._odd: dict[int, list[Problem]] = {}
        """What the fast parser could not read, by question."""
        self._bundles: dict[str, frozenset[str]] = {}
        self.findings = self._open(content)

    @property
    def is_spoiled(self) -> bool:
        """Whether the document as a whole is wrong, so that no question counts."""
        return any(finding.is_error for finding in self.findings)

    def rows(self) -> Iterator[Row]:
        """Every question in order; a bad one is a row with error findings."""
        seen = SeenIds()
        for index, value in enumerate(self._questions):
            schema = self._schema_of(value)
            if index not in self._odd and schema.is_clean(value):
                record_id = cast(str, cast(JsonObject, value)["id"])
                if seen.add(record_id):
                    yield Row(index, self._line(index), record_id, value, ())
                    continue
                found = [_duplicate(record_id)]
            else:
                found = self._problems(index, value, schema, seen)
            yield self._checked(index, value, found)

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        question = cast(JsonObject, row.value)
        answer, expected = _expectations(question)
        outcome, kept = _criteria(question)
        asked = Message(role="user", content=cast(str, question["input"]))
        return Case(
            id=cast(str, question["id"]),
            dataset=self._stem,
            input_messages=(asked,),
            reference_answers=() if answer is None else (answer,),
            expected_outcome=outcome,
            expected=expected,
            metadata=cast(JsonObject, question.get("metadata", {})),
            rubric_ref=cast("str | None", question.get("rubric_ref")),
            bundle=cast("str | None", question.get("bundle")),
            extra={**kept, **beyond(question, _NAMED)},
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The question itself."""
        return row.value

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases; a spoiled document has no header to trust."""
        header = {} if self.is_spoiled else self._header
        version = cast("str | float | None", header.get("version"))
        return Dataset(
            id=self._stem,
            contract=CONTRACT,
            version=None if version is None else str(version),
            description=cast(str, header.get("description", "")),
            metadata=cast(JsonObject, header.get("metadata", {})),
            cases=cases,
            extra=beyond(header, _HEADER),
        )

    def place_of(self, row: Row) -> RowPlace:
        """Where a row stands, for what is found out about it later."""
        return self._place(row.index, row.record_id)

    def _open(self, content: bytes | Located) -> tuple[Finding, ...]:
        try:
            value, odd = _parsed(content)
        except ParseError as wrong:
            said = f"invalid JSON: {wrong}" if wrong.code == "invalid_json" else str(wrong)
            return (error(wrong.code, said, line=wrong.line),)
        problems: list[Problem] = []
        for problem in odd:
            match problem.path:
                case ("questions", int(index), *path):
                    mine = replace(problem, path=tuple(path))
                    self._odd.setdefault(index, []).append(mine)
                case _:
                    problems.append(problem)
        shown = value
        if isinstance(value, dict) and isinstance(value.get("questions"), list):
            self._questions = cast(list[JsonValue], value["questions"])
            # Questions are checked one by one, not with the header.
            shown = {**value, "questions": []}
        problems.extend(_header_schema().problems(shown))
        if isinstance(value, dict) and not any(one.severity == "error" for one in problems):
            self._header = value
            bundles = cast(dict[str, list[str]], value.get("bundles", {}))
            self._bundles = {name: frozenset(fields) for name, fields in bundles.items()}
        return tuple(located_finding(one, self._lines) for one in sorted(problems, key=path_order))

    def _schema_of(self, value: JsonValue) -> Schema:
        if self._bundles and isinstance(value, dict):
            bundle = value.get("bundle")
            if isinstance(bundle, str) and bundle in self._bundles:
                return _question_schema(self._bundles[bundle])
        return _question_schema()

    def _problems(
        self, index: int, value: JsonValue, schema: Schema, seen: SeenIds
    ) -> list[Problem]:
        """Everything that is wrong with a question."""
        found = [*self._odd.get(index, ()), *map(_explained, schema.problems(value))]
        name = value.get("id") if isinstance(value, dict) else None
        if isinstance(name, str) and not seen.add(name):
            found.append(_duplicate(name))
        return found

    def _checked(self, index: int, value: JsonValue, found: list[Problem]) -> Row:
        name = value.get("id") if isinstance(value, dict) else None
        record_id = name if isinstance(name, str) else None
        place = self._place(index, record_id)
        findings = tuple(place.finding(problem) for problem in sorted(found, key=path_order))
        return Row(index, self._line(index), record_id, value, findings)

    def _place(self, index: int, record_id: str | None) -> RowPlace:
        lines = self._question_lines(index)
        return RowPlace(index, record_id, ("questions", index), lines=lines)

    def _question_lines(self, index: int) -> Lines | None:
        return self._lines and self._lines.children["questions"].children[index]

    def _line(self, index: int) -> int | None:
        lines = self._question_lines(index)
        return lines.line if lines else None


def _parsed(content: bytes | Located) -> tuple[JsonValue, tuple[Problem, ...]]:
    """The value of a document, and what is wrong with single texts and numbers in it."""
    if isinstance(content, Located):
        return content.value, ()
    require_utf8(content)
    return parse_json_either_way(without_bom(content))


def _expectations(question: JsonObject) -> tuple[str | None, JsonObject]:
    """The reference answer, and what is expected beside it under the contract's names."""
    expected = question.get("expected")
    demands = dict(expected) if isinstance(expected, dict) else {}
    answer = demands.pop("answer", None) if isinstance(expected, dict) else expected
    for name in ("expected_facts", "expected_tools"):
        if name in question:
            demands[name] = question[name]
    return cast("str | None", answer), demands


def _criteria(question: JsonObject) -> tuple[str, JsonObject]:
    """The criteria as one text; a list is kept beside it, to be written back."""
    criteria = question.get("criteria", "")
    if isinstance(criteria, str):
        return criteria, {}
    listed = cast(list[str], criteria)
    text = listed[0] if len(listed) == 1 else "\n".join(f"- {item}" for item in listed)
    return text, {"criteria": criteria}


def _duplicate(record_id: str) -> Problem:
    message = f"{{}} '{record_id}' is used by an earlier question"
    return Problem(code="duplicate_record_id", message=message, path=("id",))


def _explained(problem: Problem) -> Problem:
    """The problem in words, where a pattern or an empty path does not say enough."""
    if not problem.path:
        return replace(problem, message=problem.message.replace("{}", "the question", 1))
    if problem.path == _REF and problem.code == "value_out_of_range":
        return replace(problem, message="{} is no reference to a rubric", hint=_REFERENCE)
    return problem
