"""Scores by record, and the rates and means of any part of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.engine.metrics.columns import Chosen, Column, LabelColumn, Numbers, Places
from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.rates import (
    counted_interval,
    counted_sum,
    exact_sum,
    mean_interval,
    rate_interval,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_UNIT = (0.0, 1.0)


class Scores:
    """What a check, or all of them, found: the mean over the scored repeats of every record."""

    __slots__ = ("passes", "places", "scores", "tries")

    def __init__(self) -> None:
        self.places = Places()
        self.passes = Column()
        """The share of its scored repeats that passed."""
        self.scores = Column()
        self.tries = Column()
        """How many of its repeats have a score."""

    def extend(self, records: NDArray[Any], passed: Numbers, score: Numbers, n: Numbers) -> None:
        """More records: how many of n scored repeats passed, and the sum of their scores."""
        self.places.extend(records)
        self.passes.extend(passed / n)
        self.scores.extend(score / n)
        self.tries.extend(n)

    def within(self, records: Chosen, clusters: LabelColumn) -> Evidence:
        """The part of some records; None for all of them."""
        entries = self.places.entries(records)
        return Evidence(self, entries, clusters.of(self.places, entries))


class Evidence(NamedTuple):
    """The scores of some records, and which of the records depend on each other."""

    of: Scores
    entries: Chosen
    labels: NDArray[Any] | None

    @property
    def n(self) -> int:
        """How many records have a score."""
        return len(self.of.places) if self.entries is None else len(self.entries)

    @property
    def rows(self) -> int:
        """How many repeats of them have one."""
        return round(total(self.of.tries, self.entries))

    def passes(self) -> float:
        """How many passed; a record whose repeats disagree counts in part."""
        return total(self.of.passes, self.entries)

    def rate(self) -> Interval:
        """The pass rate."""
        return rate(self.of.passes, self.entries, self.labels, self.rows)

    def mean_score(self) -> float | None:
        """The mean score."""
        return total(self.of.scores, self.entries) / self.n if self.n else None

    def mean_of(self, column: Column) -> Interval:
        """The mean of another column, in which scores may be negative."""
        return mean_of(column, self.entries, self.labels)

    def tried(self) -> tuple[Numbers, Numbers]:
        """Of every record how many repeats passed, and how many have a score."""
        tries = self.of.tries.numbers(self.entries)
        return np.round(self.of.passes.numbers(self.entries) * tries), tries


def total(column: Column, chosen: Chosen = None) -> float:
    """A sum without the error of adding many."""
    counts = column.counts(chosen)
    if counts is None:
        return exact_sum(column.numbers(chosen))
    return counted_sum(counts)


def rate(
    passes: Column,
    chosen: Chosen = None,
    labels: NDArray[Any] | None = None,
    rows: int | None = None,
) -> Interval:
    """A pass rate, by counts where records are independent."""
    counts = passes.counts(chosen) if labels is None else None
    if counts is None:
        return rate_interval(passes.numbers(chosen), labels, rows)
    return counted_interval(counts, rows)


def mean_of(scores: Column, chosen: Chosen = None, labels: NDArray[Any] | None = None) -> Interval:
    """A mean of scores that are at most 1, or below 0 where points are taken off."""
    counts = scores.counts(chosen) if labels is None else None
    if counts is not None:
        return counted_interval(counts, bounds=_bounds(min(counts, default=0.0)))
    numbers = scores.numbers(chosen)
    return mean_interval(numbers, labels, _bounds(float(numbers.min(initial=0.0))))


def _bounds(lowest: float) -> tuple[float, float]:
    return (min(0.0, lowest), 1.0)
