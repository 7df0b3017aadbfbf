"""What several tries of one case say: at least one good, all good, and how much they differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from steelyard.stats.intervals import Interval
from steelyard.stats.rates import mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

Way: TypeAlias = Literal["pass_at_k", "pass_hat_k"]
_FIRST_KS = 10


class Tries(NamedTuple):
    """The cases of a run: how many tries of each have a score, and how many of those passed."""

    passes: NDArray[Any]
    scored: NDArray[Any]
    planned: int
    """How many tries a case was to have."""
    unscored: int = 0
    """Cases without a single score, which are in neither of the columns."""
    clusters: NDArray[Any] | None = None


class Estimate(NamedTuple):
    """An estimate over the cases with enough tries, and what the others could make of it."""

    interval: Interval
    low: float | None
    high: float | None
    """If every try without a score had failed, or had passed; None where no case lacks one."""


def pass_k(tries: Tries, k: int, way: Way) -> Estimate:
    """The chance that at least one of k tries passes, or that all of them do.

    Unbiased for each case with k scored tries or more (Chen et al. 2021): the share of the
    choices of k tries that hold a pass, or passes alone. A case with fewer is not dropped without
    a word: the bounds fill its missing tries with fails and with passes.
    """
    share = _at_least_one if way == "pass_at_k" else _all
    is_enough = tries.scored >= k
    labels = None if tries.clusters is None else tries.clusters[is_enough]
    enough = _shares(tries.passes[is_enough], tries.scored[is_enough], k, share)
    interval = mean_interval(enough, labels)
    passes, scored = tries.passes[~is_enough], tries.scored[~is_enough]
    if not len(passes) and not tries.unscored:
        return Estimate(interval, None, None)
    planned = np.full(len(passes), tries.planned)
    cases = len(tries.passes) + tries.unscored
    worst = float(enough.sum() + _shares(passes, planned, k, share).sum())
    best = float(enough.sum() + _shares(passes + planned - scored, planned, k, share).sum())
    low, high = worst / cases, (best + tries.unscored) / cases
    if interval.value is not None and not low <= interval.value <= high:
        # The cases with enough tries are not like the others: the bounds are all that is known.
        interval = Interval(None, None, None, interval.method, interval.n)
    return Estimate(interval, low, high)


def chosen_ks(planned: int) -> list[int]:
    """The numbers of tries to report: all up to 10, beyond that 1, 2, 5, 10, 20, 50 and so on."""
    if planned <= _FIRST_KS:
        return list(range(1, planned + 1))
    steps = (step * 10**power for power in range(len(str(planned))) for step in (1, 2, 5))
    return [*(step for step in steps if step < planned), planned]


def _shares(
    passes: NDArray[Any], n: NDArray[Any], k: int, share: Callable[[int, int, int], float]
) -> NDArray[np.float64]:
    """The share of every case, worked out once for each kind."""
    kinds, places = np.unique(passes + 1j * n, return_inverse=True)
    found = [share(round(kind.real), round(kind.imag), k) for kind in kinds.tolist()]
    return np.array(found, dtype=np.float64)[places]


def _at_least_one(passes: int, n: int, k: int) -> float:
    return 1 - math.comb(n - passes, k) / math.comb(n, k)


def _all(passes: int, n: int, k: int) -> float:
    return math.comb(passes, k) / math.comb(n, k)


class Noise(NamedTuple):
    """Where the variance of results comes from."""

    between_records: float
    between_repeats: float

    @property
    def records_share(self) -> float | None:
        """The share of the variance that is between records; None where nothing varies."""
        whole = self.between_records + self.between_repeats
        return self.between_records / whole if whole else None

    def narrowing(self, repeats: float) -> float:
        """How much narrower an interval gets with twice as many repeats, as a share."""
        now = self.between_records + self.between_repeats / repeats
        then = self.between_records + self.between_repeats / (2 * repeats)
        return 1 - math.sqrt(then / now) if now else 0.0


def noise_of(means: NDArray[Any], n: NDArray[Any], within: float | None = None) -> Noise | None:
    """The variance between records and between repeats of one, by the moments of one-way ANOVA.

    `means` are those of n repeats each, `within` the sum of the squared distances of repeats
    from the mean of their record; without it, results are passes and fails. None where no record
    has two scored repeats, or only one record has any.
    """
    rows, records = float(n.sum()), len(n)
    if records < 2 or rows <= records:
        return None
    if within is None:
        within = float((n * means * (1 - means)).sum())
    grand = float((n * means).sum()) / rows
    between = float((n * (means - grand) ** 2).sum()) / (records - 1)
    repeats = within / (rows - records)
    size = (rows - float((n**2).sum()) / rows) / (records - 1)
    return Noise(max(0.0, (between - repeats) / size), repeats)
