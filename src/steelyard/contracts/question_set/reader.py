"""Reads contract 4's dataset: a YAML or JSON document with a list of questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from steelyard.contracts.contract import DatasetFile
from steelyard.contracts.listed_document import ListedDocument
from steelyard.contracts.message_rows import beyond
from steelyard.contracts.reading import Row, RowPlace, duplicate_id
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import (
    fields,
    object_field,
    optional_text,
    text_field,
    text_list,
)
from steelyard.formats.lines import Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.case import Case, Place
from steelyard.model.dataset import Dataset
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


def read_question_set(file: DatasetFile) -> QuestionSetReading:
    """A document of questions."""
    assert not callable(file.content)
    return QuestionSetReading(file.content, file.name, file=file.path)


class QuestionSetReading:
    """An opened question set."""

    contract = CONTRACT

    def __init__(self, content: bytes | Located, stem: str, *, file: str | None = None) -> None:
        self._stem = stem
        self._file = file
        self._document = ListedDocument(content, "questions", _header_schema())
        self.findings = self._document.findings
        self.is_spoiled = self._document.is_spoiled
        bundles = object_field(self._document.header, "bundles")
        self._bundles = {name: frozenset(text_list(bundles, name)) for name in bundles}

    def rows(self) -> Iterator[Row]:
        """Every question in order; a bad one is a row with error findings."""
        seen, document = SeenIds(), self._document
        for index, value in enumerate(document.items):
            schema = self._schema_of(value)
            if not document.odd(index) and schema.is_clean(value):
                record_id = text_field(fields(value), "id")
                if seen.add(record_id):
                    yield Row(index, document.line(index), record_id, value, ())
                    continue
                found = [duplicate_id(record_id, "question")]
            else:
                found = self._problems(index, value, schema, seen)
            yield self._checked(index, value, found)

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        question = fields(row.value)
        answer, expected = _expectations(question)
        outcome, kept = _criteria(question)
        asked = Message(role="user", content=text_field(question, "input"))
        return Case(
            id=text_field(question, "id"),
            dataset=self._stem,
            input_messages=(asked,),
            reference_answers=() if answer is None else (answer,),
            expected_outcome=outcome,
            expected=expected,
            metadata=object_field(question, "metadata"),
            rubric_ref=optional_text(question, "rubric_ref"),
            bundle=optional_text(question, "bundle"),
            extra={**kept, **beyond(question, _NAMED)},
            place=Place(file=self._file, line=row.line, index=row.index),
        )

    def hashed(self, row: Row, case: Case) -> JsonValue:  # noqa: ARG002
        """The question itself."""
        return row.value

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases; a spoiled document has no header to trust."""
        header = self._document.header
        version = header.get("version")
        return Dataset(
            id=self._stem,
            contract=CONTRACT,
            version=None if version is None else str(version),
            description=text_field(header, "description", ""),
            metadata=object_field(header, "metadata"),
            cases=cases,
            extra=beyond(header, _HEADER),
        )

    def place_of(self, row: Row) -> RowPlace:
        """Where a row stands, for what is found out about it later."""
        return self._document.place(row.index, row.record_id)

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
        found = [*self._document.odd(index), *map(_explained, schema.problems(value))]
        name = value.get("id") if isinstance(value, dict) else None
        if isinstance(name, str) and not seen.add(name):
            found.append(duplicate_id(name, "question"))
        return found

    def _checked(self, index: int, value: JsonValue, found: list[Problem]) -> Row:
        name = value.get("id") if isinstance(value, dict) else None
        record_id = name if isinstance(name, str) else None
        place = self._document.place(index, record_id)
        findings = tuple(place.finding(problem) for problem in sorted(found, key=path_order))
        return Row(index, self._document.line(index), record_id, value, findings)


def _expectations(question: JsonObject) -> tuple[str | None, JsonObject]:
    """The reference answer, and what is expected beside it under the contract's names."""
    expected = question.get("expected")
    demands = dict(expected) if isinstance(expected, dict) else {}
    answer = demands.pop("answer", None) if isinstance(expected, dict) else expected
    for name in ("expected_facts", "expected_tools"):
        if name in question:
            demands[name] = question[name]
    assert answer is None or isinstance(answer, str)
    return answer, demands


def _criteria(question: JsonObject) -> tuple[str, JsonObject]:
    """The criteria as one text; a list is kept beside it, to be written back."""
    criteria = question.get("criteria", "")
    if isinstance(criteria, str):
        return criteria, {}
    listed = text_list(question, "criteria")
    text = listed[0] if len(listed) == 1 else "\n".join(f"- {item}" for item in listed)
    return text, {"criteria": criteria}


def _explained(problem: Problem) -> Problem:
    """The problem in words, where a pattern or an empty path does not say enough."""
    if not problem.path:
        return replace(problem, message=problem.message.replace("{}", "the question", 1))
    if problem.path == _REF and problem.code == "value_out_of_range":
        return replace(problem, message="{} is no reference to a rubric", hint=_REFERENCE)
    return problem
