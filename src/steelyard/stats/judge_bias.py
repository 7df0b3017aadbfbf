"""Whether a judge errs more often where a covariate, such as length, is high."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.clustered import design_effect
from steelyard.stats.resampling import Assumed, Floats, Items, over_items
from steelyard.stats.tables import independence

FEWEST = 10
"""Responses that each half must have."""
_HALF = 0.5


class MeasuredBias(NamedTuple):
    """One response: its covariate, whether the judge errs, and what it belongs to."""

    value: float
    is_error: bool
    group: int
    """Responses of one group (a conversation, repeats of a record) are not independent."""


@dataclass(frozen=True, slots=True)
class ErrorsByHalf:
    """The error rates above the median of a covariate and below."""

    split_at: float
    rate_above: float
    rate_below: float
    difference: Interval
    p_value: float


def errors_by_half(measured: Sequence[MeasuredBias]) -> ErrorsByHalf | None:
    """The error rate of responses above the median of a covariate minus that of the others.

    The interval is a Bayesian bootstrap with Jeffreys' prior on both rates; p is Fisher's exact or
    Pearson's score test, where responses come in groups Pearson's with the correction of Rao and
    Scott (1981). None where a half has fewer than ten responses, as with few different values.
    """
    if not measured:
        return None
    split_at = median(one.value for one in measured)
    is_above = np.array([one.value > split_at for one in measured])
    is_error = np.array([one.is_error for one in measured])
    if min(is_above.sum(), (~is_above).sum()) < FEWEST:
        return None
    groups = [one.group for one in measured]
    return ErrorsByHalf(
        split_at=split_at,
        rate_above=float(is_error[is_above].mean()),
        rate_below=float(is_error[~is_above].mean()),
        difference=_difference(is_above, is_error, groups),
        p_value=_p_value(is_above, is_error, groups),
    )


def _difference(is_above: np.ndarray, is_error: np.ndarray, groups: Sequence[int]) -> Interval:
    codes = np.stack([is_above, is_error]).astype(np.int64)
    cells = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    items = Items.of(codes, Assumed(cells, np.full(4, _HALF)), groups)
    above, error = items.codes

    def differences(times: Floats) -> Floats:
        up, down = ((times @ (half * error)) / (times @ half) for half in (above, 1 - above))
        return up - down

    return over_items(differences, items, "error rate above minus below the median")


def _p_value(is_above: np.ndarray, is_error: np.ndarray, groups: Sequence[int]) -> float:
    cells = [
        int((half & kind).sum())
        for half in (is_above, ~is_above)
        for kind in (is_error, ~is_error)
    ]
    if len(set(groups)) == len(groups):
        return independence(*cells)
    a, b, c, d = cells
    sizes = math.prod((a + b, c + d, a + c, b + d))
    if not sizes:
        return 1.0
    effect = design_effect(is_error.astype(float).tolist(), groups)
    chi_squared = sum(cells) * (a * d - b * c) ** 2 / sizes / effect
    return math.erfc(math.sqrt(chi_squared / 2))
