"""Two runs over the same records, side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.model.statistics.detection import Detectable
from steelyard.model.statistics.interval import Interval

Verdict: TypeAlias = Literal["better", "worse", "no difference detectable", "cannot be compared"]
"""What can be said about B against A."""
Basis: TypeAlias = Literal["raw", "corrected"]
"""Whether a verdict rests on pass rates as measured, or corrected by people's labels."""
LEVEL = 0.05
SELECTION = ("limit", "where")
"""The options that choose records of a dataset."""


class Side(FrozenStruct, frozen=True, kw_only=True):
    """One of the runs."""

    run_id: str
    title: str
    records: int
    rate: float | None
    """Its pass rate over the pairs."""
    low: float | None = None
    """The ends of the 95 % interval of that rate."""
    high: float | None = None
    score: float | None
    """Its mean score over the pairs."""
    corrected: CorrectedRate | None = None
    """The corrected pass rate of the whole run, or why there is none; None without a judge."""


class Mismatch(FrozenStruct, frozen=True, kw_only=True):
    """Something that makes the runs differ beside what is compared."""

    what: str
    a: str
    b: str
    is_serious: bool = True
    """Whether the two numbers do not mean the same; else it is only worth knowing."""
    is_refused: bool = True
    """Whether a strict comparison refuses it: all but a selection of records."""


class Difference(FrozenStruct, frozen=True, kw_only=True):
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


class CorrectedDifference(Difference, frozen=True, kw_only=True):
    """B minus A as people would see it, over the common records, from labels of both runs."""

    rate_a: float | None = None
    low_a: float | None = None
    """The ends of the 95 % interval of the rate of A."""
    high_a: float | None = None
    rate_b: float | None = None
    low_b: float | None = None
    high_b: float | None = None
    labels_a: int = 0
    labels_b: int = 0

    def moved(self, by: float) -> CorrectedDifference:
        """The same with its value and its interval moved."""
        if self.value is None or self.low is None or self.high is None:
            return self
        return replace(self, value=self.value + by, low=self.low + by, high=self.high + by)


class Measured(NamedTuple):
    """A difference as it was measured, and as people would see it where labels say so."""

    raw: Difference
    corrected: CorrectedDifference | None

    @property
    def leading(self) -> Difference:
        """The one that the verdict rests on."""
        return self.corrected or self.raw

    def filled(self, raw: Difference | None) -> Measured:
        """With missing scores filled in, which moves the corrected difference as far."""
        if raw is None or raw.value is None or self.raw.value is None:
            return self
        return Measured(raw, self.corrected and self.corrected.moved(raw.value - self.raw.value))


class Moved(FrozenStruct, frozen=True, kw_only=True):
    """A record that one run passes and the other does not."""

    index: int
    record_id: str | None
    score_a: float
    score_b: float
    reason: str | None
    """Why it fails, where it does."""
    index_a: int
    """The place of the record in A; `index` is that in B."""


class SliceDifference(FrozenStruct, frozen=True, kw_only=True):
    """The same within a slice."""

    slice: str
    value: str
    passes: Difference
    rate_a: Interval
    """The pass rate of A over the pairs of the slice."""
    rate_b: Interval
    adjusted_p: float
    """Holds for all slices together (Benjamini–Hochberg)."""

    @property
    def is_flagged(self) -> bool:
        """Whether the slice changed by more than chance."""
        return self.adjusted_p <= LEVEL


class Dropped(FrozenStruct, frozen=True, kw_only=True):
    """Records that form no pair."""

    only_in_a: int
    only_in_b: int
    no_score_in_a: int
    """Of the common records: without a score in A alone."""
    no_score_in_b: int
    no_score_in_both: int
    other_checks: int = 0
    """Of the common records: graded by other checks in A than in B, since some were skipped."""
    changed: int = 0
    """Of those in one run only: with an id that the other run has for other content."""
    invalid_in_b: int = 0
    """Of those without a score in B: invalid there, with the id of a record of A."""


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
    filled: Difference | None = None
    """The passes if every score that only one run has were missing to the harm of B; None where
    no score is missing in one run alone."""
    favoured: Difference | None = None
    """The same in favour of B."""
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
    unadjusted_filled: Difference | None = None
    unadjusted_favoured: Difference | None = None

    @property
    def pair(self) -> Measured:
        """What these two runs alone show."""
        corrected = self.unadjusted_corrected or self.corrected
        return Measured(self.unadjusted or self.passes, corrected)

    @property
    def pair_against(self) -> Measured:
        """The same if every score that only one run has were missing to the harm of B."""
        return self.pair.filled(self.unadjusted_filled or self.filled)

    @property
    def pair_favoured(self) -> Measured:
        """The same in favour of B."""
        return self.pair.filled(self.unadjusted_favoured or self.favoured)

    @property
    def common(self) -> int:
        """How many records both runs have, with a score or without."""
        return self.a.records - self.dropped.only_in_a

    @property
    def is_comparable(self) -> bool:
        """Whether the two numbers mean the same."""
        return not any(found.is_serious for found in self.not_alike)

    @property
    def basis(self) -> Basis:
        """What the verdict rests on."""
        return "corrected" if self.corrected else "raw"

    @property
    def raw_verdict(self) -> Verdict:
        """What the pass rates say as they were measured, whatever the missing scores would be."""
        return _held(self.passes, self.filled or self.passes, self.favoured or self.passes)

    @property
    def verdict(self) -> Verdict:
        """The one answer: the corrected one leads where both runs have labels of their own."""
        seen = Measured(self.passes, self.corrected)
        if self.raw_verdict == "cannot be compared" or not seen.corrected:
            return self.raw_verdict
        against, favour = (seen.filled(one).leading for one in (self.filled, self.favoured))
        return _held(seen.corrected, against, favour)

    @property
    def is_doubted(self) -> bool:
        """Whether scores that one run alone lacks take back that B is better."""
        seen = Measured(self.passes, self.corrected).leading.verdict
        return seen == "better" and self.verdict == "no difference detectable"

    @property
    def do_scores_differ(self) -> bool:
        """Whether the scores differ in a way that the passes, as they were measured, do not."""
        if self.is_doubted or self.verdict == "cannot be compared":
            return False
        return self.scores.verdict not in {self.raw_verdict, "no difference detectable"}


def _held(seen: Difference, against: Difference, favour: Difference) -> Verdict:
    """What stays true if scores that one run alone lacks were all bad, or all good, for B.

    Where B would be worse in one of the cases and not in the other, nothing can be said.
    """
    if len({one.verdict for one in (seen, against, favour)}) == 1:
        return seen.verdict
    if "worse" in {seen.verdict, against.verdict} or seen.verdict == "cannot be compared":
        return "cannot be compared"
    return "no difference detectable"
