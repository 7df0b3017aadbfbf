"""Writes contract 4's dataset; what was read comes back unchanged."""

from __future__ import annotations

import json

from steelyard.formats.json_text import compact
from steelyard.formats.yaml_writing import write_yaml
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.json_value import JsonObject, JsonValue

_BESIDE = ("expected_facts", "expected_tools")


def write_question_set(dataset: Dataset) -> bytes:
    """A dataset as one YAML file."""
    return write_yaml(question_set(dataset))


def write_question_set_json(dataset: Dataset) -> bytes:
    """A dataset as one JSON file, indented for people."""
    return json.dumps(question_set(dataset), ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


def questions_of(_name: str, rows: list[JsonObject]) -> bytes:
    """A file of these rows."""
    return compact({"questions": [*rows]})


def question_set(dataset: Dataset) -> JsonObject:
    """A dataset as the document that a file would hold."""
    document: JsonObject = {}
    if dataset.description:
        document["description"] = dataset.description
    if dataset.version is not None:
        document["version"] = dataset.version
    if dataset.metadata:
        document["metadata"] = dict(dataset.metadata)
    document.update(dataset.extra)
    document["questions"] = [question_row(case) for case in dataset.cases]
    return document


def question_row(case: Case) -> JsonObject:
    """A case as one question."""
    demands = dict(case.expected)
    beside = {name: demands.pop(name) for name in _BESIDE if name in demands}
    question: JsonObject = {"id": case.id, "input": case.input_messages[0].text}
    if case.expected_outcome:
        question["criteria"] = case.expected_outcome
    expected = _expected(case.reference_answers, demands)
    if expected is not None:
        question["expected"] = expected
    question.update(beside)
    if case.rubric_ref is not None:
        question["rubric_ref"] = case.rubric_ref
    if case.bundle is not None:
        question["bundle"] = case.bundle
    if case.metadata:
        question["metadata"] = dict(case.metadata)
    # A list of criteria stands in `extra` and takes the place of its text.
    return {**question, **case.extra}


def _expected(answers: tuple[str, ...], demands: JsonObject) -> JsonValue:
    if not answers:
        return demands or None
    return {"answer": answers[0], **demands} if demands else answers[0]
