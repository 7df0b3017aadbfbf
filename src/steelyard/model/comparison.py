"""Two runs over the same records, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from steelyard.model.detection import Detectable
from steelyard.model.json_value import JsonObject

Verdict: TypeAlias = Literal["better", "worse", "no difference detectable", "cannot be compared"]
"""What can be said about B against A."""
Basis: TypeAlias = Literal["raw", "corrected"]
"""Whether a verdict rests on pass rates as measured, or corrected by people's labels."""
LEVEL = 0.05
SELECTION = ("limit", "where")
"""The options that choose records of a dataset."""


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
    is_refused: bool = True
    """Whether a strict comparison refuses it: all but a selection of records."""


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
    clusters: int | None = None
    """How many groups of dependent records there are; None where all are independent."""
    n_effective: float | None = None
    level: float = LEVEL
    """What the interval leaves out; smaller where several pairs of runs are compared."""

    @property
    def verdict(self) -> Verdict:
        """What the interval says."""
        if self.low is None or self.high is None:
            return "cannot be compared"
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "no difference detectable"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedDifference(Difference):
    """B minus A as people would see it, over the common records, from labels of both runs."""

    rate_a: float | None = None
    rate_b: float | None = None
    labels_a: int = 0
    labels_b: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A record that one run passes and the other does not."""

    index: int
    record_id: str | None
    score_a: float
    score_b: float
    reason: str | None
    """Why it fails, where it does."""
    index_a: int
    """The place of the record in A; `index` is that in B."""


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
    not_alike: tuple[Mismatch, ...]
    """What makes the runs differ beside what is compared."""
    dropped: Dropped
    passes: Difference
    scores: Difference
    filled: Difference
    """The passes if every score that only one run has were missing to the harm of B."""
    improvements: tuple[Moved, ...]
    regressions: tuple[Moved, ...]
    slices: tuple[SliceDifference, ...]
    detectable: Detectable | None
    """What it would take to see a difference of five points."""
    corrected: CorrectedDifference | None = None
    """B minus A as people would have it; None unless both runs have labels of their own."""
    unadjusted: Difference | None = None
    """Of one of several pairs of runs: the passes as if only these two were compared."""
    unadjusted_corrected: CorrectedDifference | None = None

    @property
    def pair(self) -> Difference:
        """The passes of these two runs alone."""
        return self.unadjusted or self.passes

    @property
    def corrected_pair(self) -> CorrectedDifference | None:
        """The corrected difference of these two runs alone."""
        return self.unadjusted_corrected or self.corrected

    @property
    def common(self) -> int:
        """How many records both runs have, with a score or without."""
        return self.a.records - self.dropped.only_in_a

    @property
    def is_comparable(self) -> bool:
        """Whether the two numbers mean the same."""
        return not any(found.is_serious for found in self.not_alike)

    @property
    def is_uneven(self) -> bool:
        """Whether scores that are missing in one run alone could hide that B is worse."""
        return self.pair.verdict != "worse" and self.filled.verdict == "worse"

    @property
    def basis(self) -> Basis:
        """What the verdict rests on."""
        return "corrected" if self.corrected else "raw"

    @property
    def raw_verdict(self) -> Verdict:
        """What the pass rates say as they were measured."""
        return "cannot be compared" if self.is_uneven else self.passes.verdict

    @property
    def verdict(self) -> Verdict:
        """The one answer: the corrected one leads where both runs have labels of their own."""
        if self.raw_verdict == "cannot be compared" or self.corrected is None:
            return self.raw_verdict
        return self.corrected.verdict
