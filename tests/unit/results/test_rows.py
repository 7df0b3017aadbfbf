"""The rows of a run: written, read again, and as their published schemas say."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import structs

from fakes.contracts import SCHEMAS
from fakes.predictions import SCORED, prediction, prediction_json
from steelyard.results.attempts import Attempt, read_attempt
from steelyard.results.failures import Failure, read_failure
from steelyard.results.predictions import CheckScore, Prediction, read_prediction
from steelyard.results.record_validation import RecordValidation, read_record_validation

ATTEMPT = {
    "index": None,
    "record_id": None,
    "target": "a",
    "attempt": 1,
    "at": "t",
    "call": "x",
    "latency_ms": None,
    "error_code": None,
}
FAILURE = {
    "index": 0,
    "record_id": None,
    "status": "timeout",
    "label": "timeout",
    "message": None,
    "attempts": 3,
}
REJECTED = {"severity": "error", "code": "invalid_json", "message": "no"}


NAMES: dict[type[msgspec.Struct], str] = {
    Prediction: "prediction",
    CheckScore: "prediction",
    Attempt: "attempt_log",
    Failure: "failure",
    RecordValidation: "record_validation",
}


def schema_of(kind: type[msgspec.Struct]) -> Any:
    whole: Any = SCHEMAS.published(NAMES[kind])
    return whole["$defs"]["score"] if kind is CheckScore else whole


@pytest.mark.parametrize("kind", NAMES)
def test_the_published_schema_has_the_same_fields(kind: type[msgspec.Struct]) -> None:
    schema, fields = schema_of(kind), structs.fields(kind)

    assert set(schema["properties"]) == {field.name for field in fields}
    assert {field.name for field in fields if field.required} <= set(schema["required"])


@pytest.mark.parametrize("kind", [Prediction, CheckScore, Failure, RecordValidation])
def test_what_the_schema_requires_has_no_default(kind: type[msgspec.Struct]) -> None:
    required = {field.name for field in structs.fields(kind) if field.required}

    assert required == set(schema_of(kind)["required"])


def test_what_is_written_is_read_again() -> None:
    scores = [{**SCORED, "check": "right", "score": 1, "details": {"items": [{"a": 1.5}]}}]
    row = prediction(
        3, evaluator_scores=scores, cost_usd=1, cluster=None, slices={"tags": ["a"]}, judging={}
    )

    assert read_prediction(msgspec.json.encode(row)) == row
    assert msgspec.convert(row.json(), Prediction) == row
    assert json.dumps([row.json()["cost_usd"], row.evaluator_scores[0].score]) == "[1, 1]"


def test_fields_that_only_some_rows_have_are_left_out() -> None:
    assert not {"copied_from", "cluster", "slices"} & set(prediction().json())
    assert not {"check", "key", "copied_from"} & set(msgspec.convert(ATTEMPT, Attempt).json())
    assert "raw_score" in prediction().json()


def test_a_row_of_an_earlier_version_has_what_the_schema_requires_and_no_more() -> None:
    row = read_prediction(json.dumps(prediction_json()).encode())

    assert (row.request, row.expected, row.judging) == (None, None, None)
    assert read_failure(json.dumps(FAILURE).encode()).place == (0, 0)
    assert read_attempt(json.dumps({**ATTEMPT, "repeat": None}).encode()).repeat is None


def test_a_row_of_a_later_version_has_fields_that_are_not_known() -> None:
    assert read_prediction(json.dumps(prediction_json(carbon=3)).encode()) == prediction()


@pytest.mark.parametrize("hidden", ["expected", "details", "answers"])
def test_what_a_project_has_redacted_as_a_whole_is_a_text(hidden: str) -> None:
    mark = f"[redacted:{hidden}]"
    scores = [{**SCORED, "check": "right", "score": 1.0, "details": mark, "answers": mark}]
    row = prediction(expected=mark, evaluator_scores=scores)

    assert mark in json.dumps(row.json())


def test_a_validation_names_the_findings_of_a_rejected_record() -> None:
    row = {"index": 1, "record_id": None, "result": "rejected", "record_sha256": None}
    found = read_record_validation(json.dumps({**row, "errors": [REJECTED]}).encode())

    assert not found.is_accepted
    assert [(one.code, one.message) for one in found.errors] == [("invalid_json", "no")]
