"""Results, attempts and failures as rows."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import cast

from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.contracts.trace.writer import trace_row
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import Judging, Result
from steelyard.model.verdict import CheckResult

ARTIFACTS = (
    "run_manifest.json",
    "input_dataset.json",
    "record_validation.jsonl",
    "predictions.jsonl",
    "attempt_logs.jsonl",
    "metrics_summary.json",
    "metrics_by_slice.json",
    "failures.jsonl",
)
MANIFEST = "run_manifest.json"
NO_SCORES = b'"evaluator_scores":[]'
FAILURES = frozenset(("invalid_record", "timeout", "evaluation_error", "cancelled"))
"""The statuses for which a run is no longer `completed` (contract 2, 3.3): a failure row each."""


def prediction_row(result: Result, request: JsonObject | None = None) -> JsonObject:
    """A row of predictions.jsonl; the scores of its checks, kept apart, are put in later.

    `evaluator_scores` stands before anything a target or user wrote, so that its empty list is
    the first of its kind in the text of the row.
    """
    trace, verdict = result.trace, result.verdict
    usage = trace.usage if trace else None
    return {
        "index": result.index,
        "record_id": result.record_id,
        "record_sha256": result.record_sha256,
        "target": result.target,
        "repeat": result.repeat,
        "status": result.status,
        "evaluator_scores": [],
        "request": request,
        "expected": result.asking.expected if result.asking else None,
        "model_response": trace.response if trace else None,
        "trace": trace_row(trace) if trace else None,
        "score": verdict.score if verdict else None,
        "raw_score": verdict.raw_score if verdict else None,
        "passed": verdict.passed if verdict else None,
        "reason": verdict.reason if verdict else result.message or None,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        "total_tokens": usage.total_tokens if usage else None,
        "cost_usd": result.cost_usd,
        "latency_ms": trace.latency_ms if trace else None,
        "first_attempt_at": result.first_attempt_at,
        "last_attempt_at": result.last_attempt_at,
        "response_source": result.response_source,
        "judging": _judging(result.judging) if result.judging else None,
        **_place(result),
    }


def _judging(judging: Judging) -> JsonObject:
    """What the judges took; their cost is a part of `cost_usd`."""
    row: dict[str, JsonValue] = asdict(judging)
    return row


def _place(result: Result) -> JsonObject:
    """The slices and the conversation of a record, where it has any: a comparison needs them."""
    place: JsonObject = {}
    if result.cluster is not None:
        place["cluster"] = cluster_of(result.cluster)
    slices: dict[str, JsonValue] = {}
    for name, value in result.slices:
        if value is not None:
            cast("list[JsonValue]", slices.setdefault(name, [])).append(value)
    if slices:
        place["slices"] = slices
    return place


def cluster_of(name: str) -> str:
    """A conversation by its hash: two whose names are redacted stay two."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def score_row(result: CheckResult) -> JsonObject:
    """An entry of a prediction's `evaluator_scores`."""
    outcome = result.outcome
    return {
        "check": result.check,
        "kind": result.kind,
        "score": outcome.score,
        "raw_score": outcome.raw_score,
        "passed": outcome.passed,
        "status": outcome.status,
        "reason": outcome.reason,
        "weight": result.weight,
        "required": result.required,
        "judge": outcome.judge,
        "answers": answers_row(outcome.answers) if outcome.answers else None,
        "details": dict(outcome.details),
    }


def validation_row(result: Result) -> JsonObject:
    """A row of record_validation.jsonl."""
    return {
        "index": result.index,
        "record_id": result.record_id,
        "result": "rejected" if result.status == "invalid_record" else "accepted",
        "record_sha256": result.record_sha256,
        "errors": [finding_row(finding) for finding in result.errors],
    }


def failure_row(result: Result) -> JsonObject:
    """A row of failures.jsonl."""
    return {
        "index": result.index,
        "record_id": result.record_id,
        "repeat": result.repeat,
        "status": result.status,
        "label": result.label,
        "message": result.message,
        "attempts": result.attempts,
    }


def finding_row(finding: Finding) -> JsonObject:
    """A finding as its JSON object."""
    row: dict[str, JsonValue] = asdict(finding)
    return row
