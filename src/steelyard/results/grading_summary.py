"""What grades the records of a run, as it is known before the first call."""

from __future__ import annotations

from msgspec import field

from steelyard.results.json_struct import JsonStruct


class RubricUse(JsonStruct, frozen=True, kw_only=True):
    """A rubric with the number of its checks, and of the records that it grades."""

    rubric: str
    """Its reference."""
    checks: int
    """The number of its checks."""
    records: int
    """The number of records that it grades."""


class OwnChecks(JsonStruct, frozen=True, kw_only=True):
    """The records that are graded by their own expectations."""

    records: int = 0
    """The number of these records."""
    kinds: dict[str, int] = field(default_factory=dict[str, int])
    """The number of records that define a check of each kind."""


class JudgeUse(JsonStruct, frozen=True, kw_only=True):
    """A judge with the target through which it is asked."""

    judge: str
    """Its reference."""
    target: str | None
    """The target through which it is asked."""


class GradingSummary(JsonStruct, frozen=True, kw_only=True):
    """What grades the records of a run."""

    rubrics: tuple[RubricUse, ...] = ()
    """The rubrics that grade."""
    brought: OwnChecks = OwnChecks()
    skipped: int = 0
    """The number of records that nothing grades."""
    asked: tuple[JudgeUse, ...] = ()
    """The judges that are asked."""
