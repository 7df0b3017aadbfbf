"""Rates and means of dependent items: the one interval that every report and gate shows."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.distributions import student_quantile
from steelyard.stats.intervals import Z95, wilson

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = "Sequence[float] | NDArray[Any]"
Clusters: TypeAlias = "Sequence[int] | NDArray[Any]"
"""A number for each item; items with the same one depend on each other."""
EFFECTIVE = "wilson at the effective n"
STUDENT = "t"
FEWEST_HOLDERS = 10
"""With fewer clusters that differ from the rest, their variance cannot be estimated."""
FEWEST_CARRIERS = 5
"""The same where few clusters carry nearly all of the variance."""
_UNIT = (0.0, 1.0)


class Spread(NamedTuple):
    """What an interval of a mean needs to know about the items, cluster by cluster."""

    n: int
    mean: float
    squares: float
    """The sum of the squared residual sums of clusters, corrected for their leverage."""
    fourths: float
    """The sum of their fourth powers."""
    clusters: int
    equal_clusters: float
    """As many clusters of equal size as these are worth (Kish)."""
    holders: int
    """Clusters that hold anything but the most common value."""

    @property
    def variance(self) -> float:
        """The variance of the mean, with the correction for few clusters."""
        if self.clusters < 2:
            return 0.0
        return self.clusters / (self.clusters - 1) * self.squares / self.n**2

    @property
    def is_estimable(self) -> bool:
        """Whether enough clusters differ for their variance to be believed."""
        carriers = self.squares**2 / self.fourths if self.fourths else 0.0
        return (
            self.holders >= FEWEST_HOLDERS
            and carriers >= FEWEST_CARRIERS
            and self.equal_clusters >= 2
        )

    @property
    def critical(self) -> float:
        """Student's quantile, because few clusters estimate their own variance."""
        return student_quantile(0.975, max(0.5, round(self.equal_clusters - 1, 6)))


def rate_interval(
    values: Numbers, clusters: Clusters | None = None, rows: int | None = None
) -> Interval:
    """A pass rate with Wilson's interval, at the effective n where records are dependent.

    A value is the share of a record's repeats that passed; records with the same cluster are one
    piece of evidence. `rows` is how many repeats were scored in all: the effective n never
    exceeds it.
    """
    found = np.asarray(values, dtype=np.float64)
    if clusters is None and _is_binary(found):
        return wilson(float(found.sum()), len(found))
    if not len(found):
        return wilson(0, 0)
    most = len(found) if rows is None else rows
    spread = spread_of(found, clusters)
    return of_spread(spread, most=most, is_clustered=clusters is not None)


def mean_interval(
    values: Numbers,
    clusters: Clusters | None = None,
    bounds: tuple[float, float] | None = _UNIT,
) -> Interval:
    """A mean score with an interval that is a rate's where all scores are 0 or 1.

    Scores within known bounds vary at most as passes and fails of the same mean do. The
    interval is Wilson's for as many passes and fails as have the variance that was seen (decision
    9). Where too few clusters differ to see a variance, each cluster counts as one pass or fail.
    Without bounds it is Student's interval, and there is none where the variance is unknown.
    """
    found = np.asarray(values, dtype=np.float64)
    if not len(found):
        return wilson(0, 0)
    if clusters is None and bounds == _UNIT and _is_binary(found):
        return wilson(float(found.sum()), len(found))
    return of_spread(spread_of(found, clusters), bounds, is_clustered=clusters is not None)


def counted_interval(
    counts: Mapping[float, int], rows: int | None = None, bounds: tuple[float, float] = _UNIT
) -> Interval:
    """The same for independent records, by how often each value occurs."""
    n = sum(counts.values())
    if not n:
        return wilson(0, 0)
    mean = counted_sum(counts) / n
    if bounds == _UNIT and set(counts) <= {0.0, 1.0}:
        return wilson(counts.get(1.0, 0), n)
    parts = [(count, (value - mean) ** 2) for value, count in counts.items()]
    spread = Spread(
        n=n,
        mean=mean,
        squares=math.fsum(count * square for count, square in parts),
        fourths=math.fsum(count * square**2 for count, square in parts),
        clusters=n,
        equal_clusters=n,
        holders=n - max(counts.values()),
    )
    return of_spread(spread, bounds, most=rows, is_clustered=False)


def counted_sum(counts: Mapping[float, int]) -> float:
    """The same sum as that of the values one by one."""
    return float(sum(Fraction(value) * count for value, count in counts.items()))


def exact_sum(values: NDArray[Any]) -> float:
    """A sum without rounding errors: a mean on a threshold must not fall below it."""
    return math.fsum(array("d", values.astype(np.float64).tobytes()))


def spread_of(values: NDArray[np.float64], clusters: Clusters | None) -> Spread:
    """How values vary between clusters; without clusters every value is one."""
    n = len(values)
    mean = exact_sum(values) / n
    kinds, times = np.unique(values, return_counts=True)
    differs = values != kinds[times.argmax()]
    if clusters is None:
        sums, sizes, holders = values - mean, np.ones(n), int(differs.sum())
    else:
        labels = numbered(np.asarray(clusters))
        sums, sizes = np.bincount(labels, weights=values - mean), np.bincount(labels)
        holders = int((np.bincount(labels, weights=differs) > 0).sum())
    squares = (sums * leverage(sizes)) ** 2
    return Spread(
        n=n,
        mean=mean,
        squares=float(squares.sum()),
        fourths=float((squares**2).sum()),
        clusters=len(sums),
        equal_clusters=float(n) ** 2 / float((sizes.astype(np.float64) ** 2).sum()),
        holders=holders,
    )


def numbered(clusters: NDArray[Any]) -> NDArray[Any]:
    """Clusters by numbers from 0, in their order; those that are so already stay as they are."""
    is_near = len(clusters) > 0 and clusters.min() == 0 and clusters.max() < len(clusters)
    if is_near and np.bincount(clusters).all():
        return clusters
    return np.unique(clusters, return_inverse=True)[1]


def leverage(sizes: NDArray[Any]) -> NDArray[np.float64]:
    """By how much the residual sum of each cluster is too small, relative to equal clusters.

    A cluster pulls the mean towards itself, a large one most (jackknife; all 1 for equal sizes).
    """
    if len(sizes) < 2:
        return np.ones(len(sizes))
    return (1 - 1 / len(sizes)) / (1 - sizes / sizes.sum())


def of_spread(
    spread: Spread,
    bounds: tuple[float, float] | None = _UNIT,
    *,
    most: int | None = None,
    is_clustered: bool = True,
) -> Interval:
    """The interval of a mean whose spread is known."""
    shown = spread.clusters if is_clustered else None
    if bounds is None:
        return replace(_student(spread), clusters=shown)
    low = min(bounds[0], spread.mean)
    width = max(bounds[1], spread.mean) - low
    share = (spread.mean - low) / width
    worth, critical = effective_n(spread, share * (1 - share) * width**2, most)
    found = wilson(share * worth, worth, critical)
    assert found.low is not None
    assert found.high is not None
    return Interval(
        spread.mean,
        min(low + width * found.low, spread.mean),
        max(low + width * found.high, spread.mean),
        EFFECTIVE,
        spread.n,
        shown,
        worth,
    )


def effective_n(spread: Spread, largest: float, most: int | None) -> tuple[float, float]:
    """How many independent items these are worth, at most so many, and the quantile to use.

    `largest` is the variance that a single item has at most, given the mean.
    """
    variance = spread.variance
    worth = largest / variance if variance > 0 else math.inf
    if not spread.is_estimable and worth >= spread.equal_clusters:
        return spread.equal_clusters, Z95
    return max(1.0, min(worth, math.inf if most is None else most)), spread.critical


def _student(spread: Spread) -> Interval:
    if not spread.is_estimable:
        return Interval(spread.mean, None, None, STUDENT, spread.n)
    half = spread.critical * math.sqrt(spread.variance)
    return Interval(spread.mean, spread.mean - half, spread.mean + half, STUDENT, spread.n)


def _is_binary(values: NDArray[np.float64]) -> bool:
    return bool(((values == 0) | (values == 1)).all())
