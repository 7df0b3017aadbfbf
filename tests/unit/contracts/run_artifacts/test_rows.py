"""Results, attempts and failures as rows of the artifacts."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from steelyard.contracts.run_artifacts.rows import (
    ARTIFACTS,
    MANIFEST,
    NO_SCORES,
    failure_row,
    prediction_row,
    score_row,
    validation_row,
)
from steelyard.model.finding import Finding
from steelyard.model.message import Message, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.run import Asking, Attempt, Judging, Result
from steelyard.model.trace import Trace, Usage
from steelyard.model.verdict import CheckResult, Verdict

HOSTILE = '"evaluator_scores":[]'
CHECKED = CheckResult(check="right", kind="equals", outcome=Outcome.passing("equals '4'"))
TRACE = Trace(
    messages=(Message(role="assistant", content="4"),),
    usage=Usage(input_tokens=7, output_tokens=1),
    latency_ms=12.5,
)
EVALUATED = Result(
    index=3,
    record_id="q3",
    status="evaluated",
    record_sha256="ab",
    target="live",
    repeat=1,
    trace=TRACE,
    verdict=Verdict(
        status="evaluated",
        results=(CHECKED,),
        score=1.0,
        raw_score=1.0,
        passed=True,
        reason="right: equals '4'",
    ),
    attempts=2,
    first_attempt_at="2026-01-01T00:00:00.000+00:00",
    last_attempt_at="2026-01-01T00:00:02.000+00:00",
    response_source="sampled",
    cost_usd=0.001,
)
FAILED = Result(
    index=4,
    record_id=None,
    status="timeout",
    target="live",
    label="timeout",
    message="no answer in 60 s",
    attempts=3,
)


def test_the_artifacts_are_the_eight_of_the_contract() -> None:
    assert len(set(ARTIFACTS)) == 8
    assert MANIFEST in ARTIFACTS


def test_a_prediction_has_every_field_of_the_published_shape() -> None:
    assert prediction_row(EVALUATED) == {
        "index": 3,
        "record_id": "q3",
        "record_sha256": "ab",
        "target": "live",
        "repeat": 1,
        "status": "evaluated",
        "evaluator_scores": [],
        "request": None,
        "expected": None,
        "model_response": "4",
        "trace": {
            "messages": [{"role": "assistant", "content": "4"}],
            "usage": {"input_tokens": 7, "output_tokens": 1},
            "latency_ms": 12.5,
        },
        "score": 1.0,
        "raw_score": 1.0,
        "passed": True,
        "reason": "right: equals '4'",
        "input_tokens": 7,
        "output_tokens": 1,
        "total_tokens": 8,
        "cost_usd": 0.001,
        "latency_ms": 12.5,
        "first_attempt_at": "2026-01-01T00:00:00.000+00:00",
        "last_attempt_at": "2026-01-01T00:00:02.000+00:00",
        "response_source": "sampled",
        "judging": None,
    }


def test_a_judged_prediction_says_what_its_judges_took() -> None:
    judging = Judging(calls=2, attempts=3, input_tokens=9, cost_usd=0.0004)

    assert prediction_row(replace(EVALUATED, judging=judging))["judging"] == {
        "calls": 2,
        "unanswered": 0,
        "attempts": 3,
        "input_tokens": 9,
        "output_tokens": None,
        "cost_usd": 0.0004,
        "cached": 0,
        "saved_usd": None,
    }


def test_a_failed_prediction_has_the_same_fields_without_values() -> None:
    row = prediction_row(FAILED)

    assert row.keys() == prediction_row(EVALUATED).keys()
    assert {name for name, value in row.items() if value is not None} == {
        *("index", "target", "repeat", "status", "evaluator_scores", "reason"),
    }
    assert row["reason"] == "no answer in 60 s"


def test_a_result_without_a_message_has_no_reason() -> None:
    assert prediction_row(Result(index=0, record_id="a", status="cancelled"))["reason"] is None


def test_the_place_of_the_scores_is_found_whatever_users_and_targets_write() -> None:
    call = ToolCall(tool="t", input={"evaluator_scores": []})
    trace = Trace(messages=(Message(role="assistant", content=HOSTILE, tool_calls=(call,)),))
    asking = Asking(messages=(), sha256=HOSTILE, expected={"evaluator_scores": []})
    result = Result(
        index=0, record_id=HOSTILE, target=HOSTILE, status="evaluated", trace=trace, asking=asking
    )
    row = prediction_row(result, {"messages": [{"evaluator_scores": []}]})
    filled = msgspec.json.encode(row).replace(NO_SCORES, NO_SCORES[:-1] + b"7]", 1)

    assert json.loads(filled) == {**row, "evaluator_scores": [7]}


@pytest.mark.parametrize(
    ("outcome", "score", "passed", "status"),
    [
        (Outcome.passing("why"), 1.0, True, "scored"),
        (Outcome.skipped("why"), None, None, "skipped"),
        (Outcome.unscored("why"), None, None, "unscored"),
    ],
)
def test_a_score_says_what_the_check_found(
    outcome: Outcome, score: float | None, passed: bool | None, status: str
) -> None:
    made = CheckResult(check="a", kind="equals", outcome=outcome, weight=2.0, required=True)

    assert score_row(made) == {
        "check": "a",
        "kind": "equals",
        "score": score,
        "raw_score": None,
        "passed": passed,
        "status": status,
        "reason": "why",
        "weight": 2.0,
        "required": True,
        "judge": None,
        "answers": None,
        "details": {},
    }


def test_an_accepted_record_has_no_errors() -> None:
    assert validation_row(EVALUATED) == {
        "index": 3,
        "record_id": "q3",
        "result": "accepted",
        "record_sha256": "ab",
        "errors": [],
    }


def test_a_rejected_record_lists_its_errors() -> None:
    finding = Finding(severity="error", code="missing_required_field", message="missing input")
    row = validation_row(
        Result(index=1, record_id=None, status="invalid_record", errors=(finding,))
    )

    assert row["result"] == "rejected"
    assert row["errors"] == [
        {
            "severity": "error",
            "code": "missing_required_field",
            "message": "missing input",
            "path": "",
            "line": None,
            "index": None,
            "record_id": None,
            "hint": None,
        }
    ]


def test_a_failure_says_what_and_after_how_many_attempts() -> None:
    assert failure_row(FAILED) == {
        "index": 4,
        "record_id": None,
        "repeat": 0,
        "status": "timeout",
        "label": "timeout",
        "message": "no answer in 60 s",
        "attempts": 3,
    }


def test_an_attempt_has_every_field_of_the_published_shape() -> None:
    attempt = Attempt(
        index=0, record_id="a", target="live", repeat=0, attempt=1, at="t", http_status=429
    )

    assert msgspec.to_builtins(attempt) == {
        "index": 0,
        "record_id": "a",
        "target": "live",
        "repeat": 0,
        "attempt": 1,
        "at": "t",
        "call": "target",
        "latency_ms": None,
        "error_code": None,
        "message": None,
        "http_status": 429,
        "retry_in_s": None,
        "input_tokens": None,
        "output_tokens": None,
        "request_id": None,
    }
