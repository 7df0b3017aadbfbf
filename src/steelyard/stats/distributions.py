"""Tails of the distributions that the tests need, so that scipy is not installed for them."""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_EXACT = 3e-16
_STEPS = 20_000


def normal_tail(z: float) -> float:
    """The chance of a standard normal value above z."""
    return 0.5 * math.erfc(z / math.sqrt(2))


def student_tail(t: float, freedom: float) -> float:
    """The chance of a value above t under Student's distribution."""
    half = 0.5 * beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=1024)
def student_quantile(probability: float, freedom: float) -> float:
    """The value below which Student's distribution has this probability; by halving."""
    if probability == 0.5:
        return 0.0
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > 1 - probability:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if student_tail(middle, freedom) > 1 - probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # The fraction converges fast on this side of the mean only.
    if x > (a + 1) / (a + b + 2):
        return 1 - front * _fraction(b, a, 1 - x) / b
    return front * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    upper, lower = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    value = lower
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        change = 1.0
        for term in (even, odd):
            lower = 1 / _away_from_zero(1 + term * lower)
            upper = _away_from_zero(1 + term / upper)
            change = lower * upper
            value *= change
        if abs(change - 1) < _EXACT:
            break
    return value


def _away_from_zero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY


def binomial_tail(successes: int, n: int, rate: float = 0.5) -> float:
    """The chance of at least so many successes, without a sum over a million terms."""
    if successes <= 0:
        return 1.0
    return 0.0 if successes > n else beta_share(successes, n - successes + 1, rate)
