"""What became of each record in each repeat: the rows of `predictions.jsonl`.

A field with a default is one that runs of earlier versions, or some rows, do not have.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from steelyard.model.json_value import JsonObject
from steelyard.model.run import Judging, Result
from steelyard.model.verdict import CheckResult
from steelyard.results.metrics import Value

PREDICTIONS = "predictions.jsonl"
Number: TypeAlias = int | float
"""As it was written: 1 stays 1."""
Redactable: TypeAlias = dict[str, Any] | str
"""What records or judges say; a text where a project has the whole of it redacted."""


Slices: TypeAlias = dict[str, list[str] | str]
"""The groups of a record by slice; a text where a project has a slice redacted."""


class CheckScore(Value, frozen=True, kw_only=True):
    """What one check found: an entry of `evaluator_scores`."""

    check: str
    kind: str
    score: Number | None
    raw_score: Number | None = None
    passed: bool | None
    status: str
    reason: str | None = None
    weight: Number = 1.0
    required: bool = False
    judge: str | None = None
    answers: Redactable | None = None
    details: Redactable = msgspec.field(default_factory=dict[str, Any])


class Prediction(Value, frozen=True, kw_only=True):
    """One record in one repeat."""

    copied_from: str | UnsetType = UNSET
    """The run that made the row, where a retry has copied it."""
    index: int
    record_id: str | None
    record_sha256: str | None
    target: str | None
    repeat: int
    status: str
    evaluator_scores: tuple[CheckScore, ...]
    request: dict[str, Any] | None = None
    expected: Redactable | None = None
    model_response: str | None
    trace: dict[str, Any] | None
    score: Number | None
    raw_score: Number | None = None
    passed: bool | None
    reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: Number | None = None
    latency_ms: Number | None = None
    first_token_ms: Number | None = None
    first_attempt_at: str | None = None
    last_attempt_at: str | None = None
    response_source: str | None
    judging: Judging | None = None
    cluster: str | UnsetType | None = UNSET
    slices: Slices | UnsetType = UNSET

    @property
    def place(self) -> tuple[int, int]:
        """Its index and repeat."""
        return self.index, self.repeat

    @property
    def is_passed(self) -> bool:
        """Whether it was evaluated and passes."""
        return self.status == "evaluated" and bool(self.passed)


read_prediction = msgspec.json.Decoder(Prediction).decode


def prediction_of(
    result: Result, *, trace: JsonObject | None = None, request: JsonObject | None = None
) -> Prediction:
    """The row of a result, with its trace as JSON; the scores of its checks are kept beside it."""
    answer, verdict = result.trace, result.verdict
    usage = answer.usage if answer else None
    return Prediction(
        index=result.index,
        record_id=result.record_id,
        record_sha256=result.record_sha256,
        target=result.target,
        repeat=result.repeat,
        status=result.status,
        evaluator_scores=(),
        request=request,
        expected=result.asking.expected if result.asking else None,
        model_response=answer.response if answer else None,
        trace=trace,
        score=verdict.score if verdict else None,
        raw_score=verdict.raw_score if verdict else None,
        passed=verdict.passed if verdict else None,
        reason=verdict.reason if verdict else result.message or None,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        total_tokens=usage.total_tokens if usage else None,
        cost_usd=result.cost_usd,
        latency_ms=answer.latency_ms if answer else None,
        first_token_ms=answer.first_token_ms if answer else None,
        first_attempt_at=result.first_attempt_at,
        last_attempt_at=result.last_attempt_at,
        response_source=result.response_source,
        judging=result.judging,
        cluster=UNSET if result.cluster is None else cluster_of(result.cluster),
        slices=_slices(result),
    )


def score_of(found: CheckResult, answers: JsonObject | None = None) -> CheckScore:
    """The score of a check, with what a judge answered as JSON."""
    outcome = found.outcome
    return CheckScore(
        check=found.check,
        kind=found.kind,
        score=outcome.score,
        raw_score=outcome.raw_score,
        passed=outcome.passed,
        status=outcome.status,
        reason=outcome.reason,
        weight=found.weight,
        required=found.required,
        judge=outcome.judge,
        answers=answers,
        details=dict(outcome.details),
    )


def cluster_of(name: str) -> str:
    """A conversation by its hash: two whose names are redacted stay two."""
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _slices(result: Result) -> Slices | UnsetType:
    """The groups that a record belongs to, where there are any: a comparison needs them."""
    slices: dict[str, list[str]] = {}
    for name, value in result.slices:
        if value is not None:
            slices.setdefault(name, []).append(value)
    return {**slices} or UNSET
