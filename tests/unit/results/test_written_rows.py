"""Results, attempts and failures as rows of the artifacts."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from steelyard.contracts.trace.writer import trace_row
from steelyard.model.finding import Finding
from steelyard.model.message import Message, ToolCall
from steelyard.model.outcome import Outcome
from steelyard.model.run import Asking, Judging, Result
from steelyard.model.trace import Trace, Usage
from steelyard.model.verdict import CheckResult, Verdict
from steelyard.results.artifacts import ARTIFACTS, MANIFEST
from steelyard.results.attempts import Attempt
from steelyard.results.failures import failure_of
from steelyard.results.predictions import prediction_of, score_of
from steelyard.results.record_validation import record_validation_of
from steelyard.results.stored_rows import copied_from, with_scores

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
    assert prediction_of(EVALUATED, trace=trace_row(TRACE)).json() == {
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
        "first_token_ms": None,
        "first_attempt_at": "2026-01-01T00:00:00.000+00:00",
        "last_attempt_at": "2026-01-01T00:00:02.000+00:00",
        "response_source": "sampled",
        "judging": None,
    }


def test_a_judged_prediction_says_what_its_judges_took() -> None:
    judging = Judging(calls=2, attempts=3, input_tokens=9, cost_usd=0.0004)

    assert prediction_of(replace(EVALUATED, judging=judging)).json()["judging"] == {
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
    row = prediction_of(FAILED).json()

    assert row.keys() == prediction_of(EVALUATED).json().keys()
    assert {name for name, value in row.items() if value is not None} == {
        *("index", "target", "repeat", "status", "evaluator_scores", "reason"),
    }
    assert row["reason"] == "no answer in 60 s"


def test_a_result_without_a_message_has_no_reason() -> None:
    assert prediction_of(Result(index=0, record_id="a", status="cancelled")).reason is None


def test_scores_come_to_their_place_whatever_users_and_targets_write() -> None:
    call = ToolCall(tool="t", input={"evaluator_scores": []})
    trace = Trace(messages=(Message(role="assistant", content=HOSTILE, tool_calls=(call,)),))
    asking = Asking(messages=(), sha256=HOSTILE, expected={"evaluator_scores": []})
    result = Result(
        index=0, record_id=HOSTILE, target=HOSTILE, status="evaluated", trace=trace, asking=asking
    )
    row = prediction_of(result, trace=trace_row(trace), request={"evaluator_scores": []})
    stored = msgspec.json.encode(row)
    filled = with_scores(stored, [b'{"check":"a"}', b"7"])

    assert json.loads(filled) == {**row.json(), "evaluator_scores": [{"check": "a"}, 7]}
    assert list(json.loads(filled)) == list(json.loads(stored))


def test_scores_come_to_their_place_where_a_project_has_it_redacted() -> None:
    filled = with_scores(b'{"index":0,"evaluator_scores":"[redacted:x]","score":1.0}', [b"7"])

    assert filled == b'{"index":0,"evaluator_scores":[7],"score":1.0}'


def test_a_copied_row_names_the_run_that_made_it_and_keeps_the_rest_as_it_was() -> None:
    once = copied_from(b'{"index":1.50,"later":[1, 2]}', "run_1")

    assert once == b'{"copied_from":"run_1","index":1.50,"later":[1, 2]}'
    assert copied_from(once, "run_2") == once


def test_a_failure_without_a_label_is_labelled_by_its_status() -> None:
    assert failure_of(replace(FAILED, label=None)).label == "timeout"


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

    assert score_of(made).json() == {
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
    assert record_validation_of(EVALUATED).json() == {
        "index": 3,
        "record_id": "q3",
        "result": "accepted",
        "record_sha256": "ab",
        "errors": [],
    }


def test_a_rejected_record_lists_its_errors() -> None:
    finding = Finding(severity="error", code="missing_required_field", message="missing input")
    row = record_validation_of(
        Result(index=1, record_id=None, status="invalid_record", errors=(finding,))
    )

    assert row.result == "rejected"
    assert row.json()["errors"] == [
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
    assert failure_of(FAILED).json() == {
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

    assert attempt.json() == {
        "index": 0,
        "record_id": "a",
        "target": "live",
        "repeat": 0,
        "attempt": 1,
        "at": "t",
        "call": "target",
        "latency_ms": None,
        "first_token_ms": None,
        "error_code": None,
        "message": None,
        "http_status": 429,
        "retry_in_s": None,
        "input_tokens": None,
        "output_tokens": None,
        "request_id": None,
    }
    assert (attempt.named, attempt.place, attempt.is_judging) == ("target", "target", False)


def test_a_call_to_a_judge_is_known_by_its_key() -> None:
    attempt = Attempt(
        index=0, record_id="a", target="t", attempt=1, at="now", call="judge/a", key="k", check="c"
    )

    assert (attempt.named, attempt.is_judging) == ("k", True)
    assert list(attempt.json())[-2:] == ["check", "key"]
