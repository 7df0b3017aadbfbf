"""One set of records graded twice: did passes or scores move?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.clustered import flip_p
from steelyard.stats.distributions import binomial_tail
from steelyard.stats.intervals import Z95
from steelyard.stats.rates import Clusters, Numbers, effective_n, spread_of

LEVEL = 0.05
MCNEMAR = "exact McNemar test"
PERMUTATION = "cluster permutation test"
SCORE = "paired score interval"
_HALVINGS = 60
_NEVER = 1e9


class PairedDifference(FrozenStruct, frozen=True):
    """A mean paired difference: its interval, and the test that the interval agrees with."""

    interval: Interval
    p_value: float | None
    test: str

    @property
    def direction(self) -> int:
        """1 where the mean is above zero by more than chance, -1 where it is below, else 0."""
        if self.p_value is None or self.p_value > LEVEL or not self.interval.value:
            return 0
        return 1 if self.interval.value > 0 else -1


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided p-value of McNemar's exact test.

    Of the records whose pass changed, as many should have been gained as lost if nothing moved:
    a sign test on those alone. Exact, because few pairs differ and the chi-squared form is wrong
    there. Without a pair that differs there is nothing against "nothing moved".
    """
    return min(1.0, 2 * binomial_tail(max(gained, lost), gained + lost))


def paired_difference(
    differences: Numbers,
    clusters: Clusters | None = None,
    critical: float | None = None,
) -> PairedDifference:
    """The mean of paired differences within [-1, 1], its interval and its p-value.

    Single passes and fails are tested with McNemar's exact test, repeats and clusters by flipping
    the sign of whole clusters, of which McNemar's test is a special case. The interval is Tango's
    score interval (1998), at the effective n where records are dependent. It holds zero exactly
    where the test finds nothing at the 5 % level. `critical` replaces the 95 % normal quantile.
    """
    found = np.asarray(differences, dtype=np.float64)
    n = len(found)
    if not n:
        return PairedDifference(Interval(None, None, None, SCORE, 0), None, MCNEMAR)
    gained, lost = float(found[found > 0].sum()), float(-found[found < 0].sum())
    if clusters is None and bool(np.isin(found, (-1.0, 0.0, 1.0)).all()):
        p_value, test = mcnemar(round(gained), round(lost)), MCNEMAR
        interval = tango(gained, lost, n, critical or Z95)
    else:
        p_value, test = flip_p(found, range(n) if clusters is None else clusters), PERMUTATION
        spread = spread_of(found, clusters)
        # Clusters that happen to balance out promise nothing.
        most = None if clusters is None else n
        worth, quantile = effective_n(spread, (gained + lost) / n - spread.mean**2, most)
        if critical is not None:
            quantile *= critical / Z95
        share = worth / n
        interval = tango(gained * share, lost * share, worth, quantile)
        shown = None if clusters is None else spread.clusters
        interval = replace(interval, n=n, clusters=shown, n_effective=worth)
    level = LEVEL if critical is None else _level(critical)
    return PairedDifference(_agreeing(interval, p_value <= level), p_value, test)


def _level(critical: float) -> float:
    return math.erfc(critical / math.sqrt(2))


def _agreeing(interval: Interval, is_different: bool) -> Interval:
    """The interval without zero where the test excludes it, and with zero where it does not."""
    value, low, high = interval.value, interval.low, interval.high
    assert value is not None
    assert low is not None
    assert high is not None
    if not is_different:
        return replace(interval, low=min(low, 0.0), high=max(high, 0.0))
    if value > 0:
        return replace(interval, low=max(low, min(value, _SMALLEST)))
    return replace(interval, high=min(high, max(value, -_SMALLEST)))


_SMALLEST = 1e-6
"""The end of an interval that excludes zero by the test alone."""


def tango(gained: float, lost: float, n: float, critical: float = Z95) -> Interval:
    """The difference of two paired rates with Tango's score interval (1998).

    All differences that a score test does not reject, with the share of lost pairs estimated
    under each of them. It has a width where no pair differs, and stays inside [-1, 1].
    """
    if gained < lost:
        # One is computed and the other mirrored, so that the order of two runs does not matter.
        return tango(lost, gained, n, critical).mirrored
    value = (gained - lost) / n

    def statistic(difference: float) -> float:
        return _score(gained, lost, n, difference)

    low = _crossing(statistic, critical, -1.0, value)
    high = _crossing(statistic, -critical, value, 1.0) if gained > lost else -low
    return Interval(value, min(low, value), max(high, value), SCORE, round(n))


def _score(gained: float, lost: float, n: float, difference: float) -> float:
    linear = -gained - lost + (2 * n - gained + lost) * difference
    constant = -lost * difference * (1 - difference)
    share = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * share + difference * (1 - difference))
    distance = gained - lost - n * difference
    if variance <= 1e-12:
        return 0.0 if abs(distance) <= 1e-9 else math.copysign(_NEVER, distance)
    return distance / math.sqrt(variance)


def _crossing(
    statistic: Callable[[float], float], wanted: float, low: float, high: float
) -> float:
    """Where a falling function takes a value, by halving."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if statistic(middle) > wanted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
