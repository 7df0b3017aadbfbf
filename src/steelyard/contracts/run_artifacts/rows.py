"""Results, attempts and failures as rows."""

from __future__ import annotations

from dataclasses import asdict

from steelyard.contracts.trace.writer import trace_row
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.run import Result
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


def prediction_row(result: Result) -> JsonObject:
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
    }


def score_row(result: CheckResult) -> JsonObject:
    """An entry of a prediction's `evaluator_scores`."""
    outcome = result.outcome
    return {
        "check": result.check,
        "kind": result.kind,
        "score": outcome.score,
        "passed": outcome.passed,
        "status": outcome.status,
        "reason": outcome.reason,
        "weight": result.weight,
        "required": result.required,
        "judge": None,
        "answers": None,
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
