"""Scores that are computed, as the numbers that people mean by them."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from operator import mul

_DIGITS = 9
_ROUNDING = 1e-12
"""Binary fractions are off by far less, and no two scores that mean different things are."""


def meant(number: float) -> float:
    """The number itself; the short decimal that it is where only binary fractions keep it off.

    Two jurors of weight 0.1 who both give 0.7 come to 0.7 and not to 0.6999999999999998, which
    would miss a threshold of 0.7.
    """
    short = round(number, _DIGITS)
    return short if abs(number - short) < _ROUNDING else number


def weighted_mean(scores: Sequence[float], weights: Sequence[float]) -> float:
    """The mean by weights, of which at least one is not 0."""
    return meant(fsum(map(mul, scores, weights)) / fsum(weights))
