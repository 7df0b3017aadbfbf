"""The result of one case under one rubric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.outcome import Outcome

VerdictStatus: TypeAlias = Literal["evaluated", "skipped", "evaluation_error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one check of the rubric found, negation applied."""

    check: str
    kind: str
    outcome: Outcome
    weight: float = 1.0
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Score and pass over all checks; or why the case has none."""

    status: VerdictStatus
    results: tuple[CheckResult, ...] = ()
    score: float | None = None
    raw_score: float | None = None
    passed: bool | None = None
    reason: str = ""
