"""Whether the errors of a judge depend on something other than quality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

JudgeError: TypeAlias = Literal["false_pass", "false_fail"]
"""A bad response that the judge passes, or a good one that it fails."""
RESPONSE_LENGTH = "response_length"
"""The covariate that every run has: the number of characters of the response."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateBias:
    """How much more often a judge errs where a covariate is high, among responses of one label."""

    covariate: str
    """`response_length`, or the name of a slice whose values are numbers."""
    error: JudgeError
    split_at: float
    """The median: responses above it are compared with the rest."""
    rate_above: float
    rate_below: float
    estimate: float
    """The error rate above minus the rate below."""
    low: float | None
    high: float | None
    p_value: float
    """Of the hypothesis that both rates are the same."""
    adjusted_p: float
    """The same, adjusted for the number of comparisons (Benjamini and Hochberg)."""
    method: str
    n: int

    @property
    def is_notable(self) -> bool:
        """Whether the difference is more than chance: by the interval and by the p-value."""
        excludes_zero = self.low is not None and self.high is not None and self.low * self.high > 0
        return excludes_zero and self.adjusted_p <= 0.05
