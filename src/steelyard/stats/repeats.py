"""What several tries of one case say: at least one good, all good, and how much they differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.rates import mean_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

Way: TypeAlias = Literal["pass_at_k", "pass_hat_k"]
_FIRST_KS = 10
_SLACK = 1e-9


@dataclass(frozen=True)
class Tries:
    """The cases of a run: how many tries of each have a score, and how many of those passed."""

    passes: NDArray[Any]
    scored: NDArray[Any]
    planned: int
    """How many tries a case was to have."""
    unscored: int = 0
    """Cases without a single score, which are in neither of the columns."""
    clusters: NDArray[Any] | None = None

    @cached_property
    def kinds(self) -> tuple[list[tuple[int, int]], NDArray[Any]]:
        """The different cases, how many tries passed of how many, and the kind of every case."""
        pairs, places = np.unique(self.passes + 1j * self.scored, return_inverse=True)
        return [(round(kind.real), round(kind.imag)) for kind in pairs.tolist()], places


class RepeatEstimate(NamedTuple):
    """An estimate over cases, and what their tries without a score could make of it."""

    interval: Interval
    low: float | None
    high: float | None
    """If every try without a score had failed, or had passed; None where no case lacks one."""


def pass_k(tries: Tries, k: int, way: Way) -> RepeatEstimate:
    """The chance that at least one of k tries passes, or that all of them do.

    Unbiased for each case with k scored tries or more (Chen et al. 2021): the share of the
    choices of k tries that hold a pass, or passes alone. Of other cases the tries that are there
    may settle it: one pass, or one fail. The bounds fill every missing try with a fail and with a
    pass. Where a case is neither settled nor has k scored tries, those that are settled would be
    a biased choice: then only cases with k scored tries count, and the interval covers the bounds.
    """
    share, planned = _at_least_one if way == "pass_at_k" else _all, tries.planned
    kinds, places = tries.kinds
    worst = np.array([share(passed, planned, k) for passed, _ in kinds])
    best = np.array([share(passed + planned - n, planned, k) for passed, n in kinds])
    is_enough = np.array([n >= k for _, n in kinds], dtype=bool)
    seen = [
        share(*kind, k) if kind[1] >= k else low for kind, low in zip(kinds, worst, strict=True)
    ]
    is_settled = bool((is_enough | (worst == best)).all()) and not tries.unscored
    chosen = np.ones(len(places), dtype=bool) if is_settled else is_enough[places]
    labels = None if tries.clusters is None else tries.clusters[chosen]
    interval = mean_interval(np.array(seen)[places][chosen], labels)
    if not tries.unscored and all(n == planned for _, n in kinds):
        return RepeatEstimate(interval, None, None)
    times, cases = np.bincount(places, minlength=len(kinds)), len(places) + tries.unscored
    low, high = float(worst @ times) / cases, (float(best @ times) + tries.unscored) / cases
    return RepeatEstimate(interval if is_settled else _covering(interval, low, high), low, high)


def _covering(found: Interval, low: float, high: float) -> Interval:
    """An interval that holds what missing tries could be; none where they contradict the value."""
    is_within = found.value is not None and low - _SLACK <= found.value <= high + _SLACK
    if not is_within or found.low is None or found.high is None:
        return Interval(None, None, None, found.method, found.n)
    method = f"{found.method}, widened to the bounds"
    return replace(found, low=min(found.low, low), high=max(found.high, high), method=method)


def chosen_ks(planned: int) -> list[int]:
    """The numbers of tries to report: all up to 10, beyond that 1, 2, 5, 10, 20, 50 and so on."""
    if planned <= _FIRST_KS:
        return list(range(1, planned + 1))
    steps = (step * 10**power for power in range(len(str(planned))) for step in (1, 2, 5))
    return [*(step for step in steps if step < planned), planned]


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
