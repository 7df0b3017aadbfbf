"""A rate with its interval."""

from __future__ import annotations

import math

from steelyard.model.statistics.interval import Interval

Z95 = 1.959963984540054
DIFFERENT = 0.01
"""Below which p-value TPR or TNR of two sets of labels count as different."""


def wilson(successes: float, n: float, critical: float = Z95) -> Interval:
    """A rate with Wilson's score interval.

    Chosen over the normal interval because it stays inside [0, 1] and holds its coverage for
    small n and for rates near 0 and 1 (Brown, Cai and DasGupta 2001).
    """
    if n == 0:
        return Interval(None, None, None, "wilson", 0)
    rate, z2 = successes / n, critical * critical
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    spread = max(0.0, rate * (1 - rate)) / n + z2 / (4 * n * n)
    half = critical / (1 + z2 / n) * math.sqrt(spread)
    # rounding can step just outside [0, 1], and just past a rate of 0 or 1
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(rate, min(low, rate), max(high, rate), "wilson", int(n))
