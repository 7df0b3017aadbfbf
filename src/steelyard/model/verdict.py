"""The result of one case under one rubric."""

from __future__ import annotations

from typing import Literal, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.outcome import Outcome

VerdictStatus: TypeAlias = Literal["evaluated", "skipped", "evaluation_error"]


class CheckResult(FrozenStruct, frozen=True, kw_only=True):
    """What one check of the rubric found, negation applied."""

    check: str
    kind: str
    outcome: Outcome
    weight: float = 1.0
    required: bool = False


class Verdict(FrozenStruct, frozen=True, kw_only=True):
    """Score and pass over all checks; or why the case has none."""

    status: VerdictStatus
    results: tuple[CheckResult, ...] = ()
    score: float | None = None
    raw_score: float | None = None
    passed: bool | None = None
    reason: str = ""
