"""Scores that are computed, as the numbers that people mean by them."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, fsum
from operator import mul
from sys import float_info

_DIGITS = 9
_ENDS = frozenset((0.0, 1.0))
"""What most scores are; to round them takes longer than to look."""
_SUMMABLE = (1e-200, 1e200)
"""Between these no sum of weights, and no product with a score, leaves the range of floats."""
_ROUNDING = 1e-12
"""Binary fractions are off by far less, and no two scores that mean different things are."""


def meant(number: float) -> float:
    """The number itself; the short decimal that it is where only binary fractions keep it off.

    Two jurors of weight 0.1 who both give 0.7 come to 0.7 and not to 0.6999999999999998, which
    would miss a threshold of 0.7.
    """
    if number in _ENDS:
        return number
    short = round(number, _DIGITS)
    return short if abs(number - short) < _ROUNDING else number


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The mean by weights, of which at least one is not 0."""
    shares = in_proportion(weights)
    return meant(fsum(map(mul, scores, shares)) / fsum(shares))


def in_proportion(weights: Sequence[float]) -> Sequence[float]:
    """Weights that stand to each other as these do, and whose sums are finite."""
    largest = max(map(abs, weights), default=0.0)
    if largest == 0 or _SUMMABLE[0] < largest < _SUMMABLE[1]:
        return weights
    return [weight / largest for weight in weights]


def finite_sum(weights: Sequence[float]) -> float:
    """The sum; the largest number that there is, where it is beyond that."""
    try:
        return fsum(weights)
    except OverflowError:
        return copysign(float_info.max, fsum(in_proportion(weights)))
