"""A versioned set of checks with a scoring rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.trace import Trace

Combine: TypeAlias = Literal["all_pass", "any_pass", "weighted_avg", "min", "max", "median"]
PASS_THRESHOLD = 0.7


class Check(Protocol):
    """One way of looking at a trace; a frozen dataclass whose fields are its settings."""

    kind: ClassVar[str]

    def check(self, trace: Trace, case: Case) -> Outcome:
        """What the check finds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricCheck:
    """A check with its place in a rubric."""

    id: str
    check: Check
    weight: float = 1.0
    required: bool = False
    negate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """Checks and how their results combine."""

    id: str
    version: str
    checks: tuple[RubricCheck, ...]
    combine: Combine = "weighted_avg"
    pass_threshold: float = PASS_THRESHOLD
    sha256: str | None = None
    """The hash of the file it was read from; None for a rubric made in code."""

    @property
    def name(self) -> str:
        """Its reference."""
        return f"rubric/{self.id}@{self.version}"
