"""What became of each record in each repeat: the rows of `predictions.jsonl`.

A field with a default is one that runs of earlier versions, or some rows, do not have.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from steelyard.model.run import Judging
from steelyard.results.metrics import Value

PREDICTIONS = "predictions.jsonl"
Number: TypeAlias = int | float
"""As it was written: 1 stays 1."""
Redactable: TypeAlias = dict[str, Any] | str
"""What records or judges say; a text where a project has the whole of it redacted."""


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
    first_attempt_at: str | None = None
    last_attempt_at: str | None = None
    response_source: str | None
    judging: Judging | None = None
    cluster: str | UnsetType | None = UNSET
    slices: dict[str, list[str] | str] | UnsetType = UNSET

    @property
    def place(self) -> tuple[int, int]:
        """Its index and repeat."""
        return self.index, self.repeat

    @property
    def is_passed(self) -> bool:
        """Whether it was evaluated and passes."""
        return self.status == "evaluated" and bool(self.passed)


read_prediction = msgspec.json.Decoder(Prediction).decode
