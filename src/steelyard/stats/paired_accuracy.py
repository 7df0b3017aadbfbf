"""Two judges over the same labelled items: whose verdicts are right more often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.resampling import Assumed, Floats, Items, over_items

_LEVEL = 0.05
_HALF = 0.5


class AccuracyTrial(NamedTuple):
    """One labelled item, and whether each of two judges is right about it."""

    is_good: bool
    is_first_right: bool
    is_second_right: bool
    group: int
    """Items of one group (a conversation, repeats of a record) are not independent."""


def accuracy_difference(trials: Sequence[AccuracyTrial], comparisons: int = 1) -> Interval:
    """The first minus the second in balanced accuracy, the mean of TPR and TNR.

    A Bayesian bootstrap over items, with half an item assumed for each outcome of good and of bad
    ones (Jeffreys' prior). Where the second was picked from several on the same items,
    `comparisons` says from how many, and the interval holds for all of them together
    (Bonferroni): the one that looks best has had luck. Not known without good or bad items.
    """
    codes = np.array([one[:3] for one in trials], dtype=np.int64).reshape(-1, 3).T
    cells = np.array(list(product((0, 1), repeat=3)), dtype=np.int64).T
    assumed = Assumed(cells, np.full(cells.shape[1], _HALF))
    items = Items.of(codes, assumed, [one.group for one in trials])
    good, first, second = items.codes

    def differences(times: Floats) -> Floats:
        total = np.zeros(len(times))
        with np.errstate(invalid="ignore", divide="ignore"):
            for kind in (good == 1, good == 0):
                total += (times @ (kind * (first - second))) / (times @ kind)
        return total / 2

    tail = _LEVEL / 2 / comparisons
    return over_items(
        differences, items, "difference of balanced accuracy", tails=(tail, 1 - tail)
    )
