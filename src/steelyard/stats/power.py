"""How many records a comparison needs."""

from __future__ import annotations

import math

Z_POWER = 0.8416212335729143
"""The quantile of 80 % power."""
_Z = 1.959963984540054


def records_to_detect(points: float, discordant: float, design_effect: float = 1.0) -> int:
    """How many records show a difference of so many percentage points with 80 % power.

    For McNemar's exact test at the 5 % level: Connor's formula (1987) with the continuity
    correction that the exact test needs. `discordant` is the share of records that only one of
    the two passes; it is at least the difference itself. Records in clusters are worth less by
    the design effect.
    """
    difference = points / 100
    share = max(discordant, difference)
    root = _Z * math.sqrt(share) + Z_POWER * math.sqrt(share - difference * difference)
    plain = (root / difference) ** 2
    exact = plain / 4 * (1 + math.sqrt(1 + 4 / (plain * difference))) ** 2
    return math.ceil(exact * max(1.0, design_effect))


def detectable_points(records: int, discordant: float, design_effect: float = 1.0) -> float | None:
    """The smallest difference that so many records show, to a tenth of a point, if any."""
    low, high = 0, 1000
    if records_to_detect(high / 10, discordant, design_effect) > records:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if records_to_detect(middle / 10, discordant, design_effect) > records:
            low = middle
        else:
            high = middle
    return high / 10


def records_for_width(half: float, records: int, points: float) -> int:
    """How many records show a difference of so many points, from the half-width of an interval.

    The width of an interval shrinks with the root of the data it rests on.
    """
    return max(2, math.ceil(records * (half * (_Z + Z_POWER) / _Z / (points / 100)) ** 2))
