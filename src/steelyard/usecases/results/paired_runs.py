"""A comparison with the records that it rests on, small enough to be kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.statistics.comparison import Comparison
from steelyard.usecases.results.compare import (
    NOTHING_MORE,
    Knowledge,
    Matched,
    compare_matched,
    load_run,
    match_runs,
)
from steelyard.usecases.results.record_pairs import RecordPairs

Selection: TypeAlias = Literal["different", "worse", "better", "all"]
Missing: TypeAlias = Literal["no score in A", "no score in B", "no score in both"]
_NAMED = 5
"""So many records without a score are named, of each kind."""


class Pair(NamedTuple):
    """A record in both runs."""

    index_a: int
    index_b: int
    record_id: str | None
    change: float
    """How much more often B passes it, from -1 to 1."""


class LeftOutRecord(NamedTuple):
    """A record that forms no pair, because a score is missing."""

    record_id: str | None
    index_a: int
    index_b: int
    missing: Missing


class PairCounts(NamedTuple):
    """The pairs by their outcome."""

    worse: int
    better: int
    pass_in_both: int
    fail_in_both: int
    mixed_in_both: int
    """Some repeats pass and some fail, as many in A as in B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedRuns:
    """Two compared runs."""

    folders: tuple[Path, Path]
    found: Comparison
    counts: PairCounts
    worse: tuple[Pair, ...]
    """The largest losses first."""
    better: tuple[Pair, ...]
    same: tuple[Pair, ...]
    left_out: tuple[LeftOutRecord, ...]
    """The first of each kind."""

    def select(self, selection: Selection) -> Sequence[Pair]:
        """The pairs of a list: those that got worse come first, then those that got better."""
        if selection in {"worse", "better"}:
            return self.worse if selection == "worse" else self.better
        different = (*self.worse, *self.better)
        return different if selection == "different" else (*different, *self.same)


def paired_runs(a: Path, b: Path, known: Knowledge = NOTHING_MORE) -> PairedRuns:
    """Compare B with A, and keep which records they have in common."""
    runs = match_runs(load_run(a, known), load_run(b, known))
    pairs = _pairs(runs.scored)
    worse = sorted((one for one in pairs if one.change < 0), key=lambda one: one.change)
    better = sorted((one for one in pairs if one.change > 0), key=lambda one: -one.change)
    return PairedRuns(
        folders=(a, b),
        found=compare_matched(runs, known),
        counts=_counts(runs.scored, len(worse), len(better)),
        worse=tuple(worse),
        better=tuple(better),
        same=tuple(one for one in pairs if not one.change),
        left_out=tuple(_left_out(runs)),
    )


def _pairs(scored: RecordPairs) -> list[Pair]:
    """The pairs in the order of B."""
    changes = scored.passed.tolist()
    found = [
        Pair(a.index, b.index, b.record_id, change)
        for a, b, change in zip(scored.a.records, scored.b.records, changes, strict=True)
    ]
    return sorted(found, key=lambda one: one.index_b)


def _counts(scored: RecordPairs, worse: int, better: int) -> PairCounts:
    if not scored:
        return PairCounts(0, 0, 0, 0, 0)
    a, b = scored.a.passed, scored.b.passed
    passes, fails = int(((a == 1) & (b == 1)).sum()), int(((a == 0) & (b == 0)).sum())
    return PairCounts(worse, better, passes, fails, len(scored) - worse - better - passes - fails)


def _left_out(runs: Matched) -> Iterator[LeftOutRecord]:
    """Common records without a score in one of the runs, the first of each kind."""
    seen: dict[Missing, int] = {}
    records = zip(runs.common.a.records, runs.common.b.records, strict=True)
    for a, b in sorted(records, key=lambda pair: pair[1].index):
        if a.scored and b.scored:
            continue
        both = not a.scored and not b.scored
        missing: Missing = (
            "no score in both" if both else "no score in A" if b.scored else "no score in B"
        )
        seen[missing] = seen.get(missing, 0) + 1
        if seen[missing] <= _NAMED:
            yield LeftOutRecord(b.record_id, a.index, b.index, missing)
