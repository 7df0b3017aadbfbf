"""What one check found in one trace."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import field

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, no_extra
from steelyard.model.question import Answers

OutcomeStatus: TypeAlias = Literal["scored", "skipped", "unscored"]


class Outcome(FrozenStruct, frozen=True, kw_only=True):
    """A score with a verdict and a reason; or why there is none.

    `skipped` means that the check does not apply; `unscored` that it could not be carried out.
    Neither is a 0, and neither is a pass.
    """

    reason: str
    passed: bool | None = None
    score: float | None = None
    status: OutcomeStatus = "scored"
    details: Extra = field(default_factory=no_extra)
    raw_score: float | None = None
    """The score before it was clipped to [0, 1], where that can differ."""
    judge: str | None = None
    """The judge that was asked, by its reference."""
    answers: Answers | None = None
    """What a judge answered to the questions of a rubric."""
    is_unavailable: bool = False
    """Whether something that it needs is not there: a program, a figure, a reference. A required
    check is unscored then, also where the rest of it has a score."""

    @classmethod
    def passing(cls, reason: str) -> Outcome:
        """A check that only passes or fails, and passes."""
        return cls(passed=True, score=1.0, reason=reason)

    @classmethod
    def failing(cls, reason: str) -> Outcome:
        """A check that only passes or fails, and fails."""
        return cls(passed=False, score=0.0, reason=reason)

    @classmethod
    def skipped(cls, reason: str) -> Outcome:
        """A check that does not apply to this case."""
        return cls(status="skipped", reason=reason)

    @classmethod
    def unavailable(cls, reason: str) -> Outcome:
        """A check that applies, and that lacks a program, a figure or a reference."""
        return cls(status="skipped", reason=reason, is_unavailable=True)

    @classmethod
    def unscored(cls, reason: str) -> Outcome:
        """A check that could not be carried out."""
        return cls(status="unscored", reason=reason)
