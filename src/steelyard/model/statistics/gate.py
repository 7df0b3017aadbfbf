"""What became of a gate."""

from __future__ import annotations

from steelyard.model.frozen_struct import FrozenStruct

ALLOW_FAILURES = "allow-failures"
"""The gate that every run has: how many records may have no score."""


class GateResult(FrozenStruct, frozen=True, kw_only=True):
    """One gate: whether it passed, and what it looked at."""

    name: str
    passed: bool
    looked_at: str
    reason: str = ""
    """Why it failed."""
    is_missing_scores: bool = False
    """Whether records without a score failed it, and not what was measured."""
    is_undecided: bool = False
    """Whether two runs cannot be compared, which is never a pass."""

    @property
    def is_named(self) -> bool:
        """Whether somebody set it, or it failed: that no score may be missing goes unsaid."""
        return not self.passed or self.name != ALLOW_FAILURES
