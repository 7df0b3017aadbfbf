"""How many records a comparison needs."""

from __future__ import annotations

import math

Z_POWER = 0.8416212335729143
"""The quantile of 80 % power."""
FEWEST_UNITS = 6
"""Fewer independent records that all get worse could still do so by chance."""
_Z = 1.959963984540054


def records_to_detect(
    points: float,
    discordant: float,
    design_effect: float = 1.0,
    *,
    repeats: int = 1,
    between_repeats: float | None = None,
) -> int:
    """How many records show a difference of so many percentage points with 80 % power.

    For McNemar's exact test at the 5 % level: Connor's formula (1987) with the continuity
    correction that the exact test needs. `discordant` is how often a single try of the one run
    and a single try of the other disagree on a record; it is at least the difference itself.
    With repeats the part of it that is between repeats of one record shrinks to its share, as
    does the step of the test; where no such part is known, repeats count as one try. Records in
    clusters are worth less by the design effect.
    """
    if not between_repeats:
        repeats = 1
    difference = points / 100
    least = difference**2 + (difference - difference**2) / repeats
    share = max(mean_square(discordant, between_repeats, repeats), least)
    root = _Z * math.sqrt(share) + Z_POWER * math.sqrt(share - difference * difference)
    plain = (root / difference) ** 2
    exact = plain / 4 * (1 + math.sqrt(1 + 4 / (plain * difference * repeats))) ** 2
    return math.ceil(max(exact, FEWEST_UNITS) * max(1.0, design_effect))


def mean_square(discordant: float, between_repeats: float | None, repeats: int) -> float:
    """The mean squared difference of a record's pass rates over so many repeats in each run."""
    return discordant - (between_repeats or 0.0) * (1 - 1 / repeats)


def detectable_points(
    records: int,
    discordant: float,
    design_effect: float = 1.0,
    *,
    repeats: int = 1,
    between_repeats: float | None = None,
) -> float | None:
    """The smallest difference that so many records show, to a tenth of a point, if any."""

    def is_shown(tenths: int) -> bool:
        needed = records_to_detect(
            tenths / 10,
            discordant,
            design_effect,
            repeats=repeats,
            between_repeats=between_repeats,
        )
        return needed <= records

    low, high = 0, 1000
    if not is_shown(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if is_shown(middle):
            high = middle
        else:
            low = middle
    return high / 10


def records_for_width(half: float, records: int, points: float) -> int:
    """How many records show a difference of so many points, from the half-width of an interval.

    The width of an interval shrinks with the root of the data it rests on.
    """
    return max(2, math.ceil(records * (half * (_Z + Z_POWER) / _Z / (points / 100)) ** 2))
