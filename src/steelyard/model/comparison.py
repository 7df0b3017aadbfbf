"""Two runs over the same records, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.json_value import JsonObject

Answer: TypeAlias = Literal["better", "worse", "no difference detectable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the runs."""

    run_id: str
    title: str
    records: int
    rate: float | None
    """Its pass rate over the pairs."""
    score: float | None
    """Its mean score over the pairs."""
    corrected: JsonObject | None = None
    """The corrected pass rate of the whole run, or why there is none; None without a judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """Something that makes the runs differ beside what is compared."""

    what: str
    a: str
    b: str
    is_serious: bool = True
    """Whether the two numbers do not mean the same; else it is only worth knowing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """B minus A, over pairs."""

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    p_value: float | None = None
    test: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A record that one run passes and the other does not."""

    index: int
    record_id: str | None
    score_a: float
    score_b: float
    reason: str | None
    """Why it fails, where it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceDifference:
    """The same within a slice."""

    slice: str
    value: str
    passes: Difference
    adjusted_p: float
    """Holds for all slices together (Benjamini–Hochberg)."""

    @property
    def is_flagged(self) -> bool:
        """Whether the slice moved by more than chance."""
        return self.adjusted_p <= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Records that form no pair."""

    only_in_a: int
    only_in_b: int
    no_score_in_a: int
    """Of the common records: without a score in A alone."""
    no_score_in_b: int
    no_score_in_both: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Whether B is better than A, and what that rests on."""

    a: Side
    b: Side
    mismatches: tuple[Mismatch, ...]
    dropped: Dropped
    missing_p: float
    """Whether scores are missing in one run more than in the other, by McNemar's exact test."""
    passes: Difference
    scores: Difference
    answer: Answer
    more_records: int | None
    """About how many more would settle it where nothing is detectable; None if none would."""
    improvements: tuple[Moved, ...]
    regressions: tuple[Moved, ...]
    slices: tuple[SliceDifference, ...]
    corrected: Difference | None = None
    """B minus A as people would have it; None unless the rates of both runs are corrected."""

    @property
    def is_comparable(self) -> bool:
        """Whether the two numbers mean the same."""
        return not any(found.is_serious for found in self.mismatches)


LEVEL = 0.05
