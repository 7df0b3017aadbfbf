"""How many records would settle a comparison."""

from __future__ import annotations

import math

Z_POWER = 0.8416212335729143
"""The quantile of 80 % power."""
_Z = 1.959963984540054


def pairs_for_passes(better: int, worse: int, n: int) -> int | None:
    """How many pairs a test of passes needs to find a difference as large as the one seen.

    From the pairs that only one of the two passed, with 80 % power at a level of 0.05 (Connor
    1987, for McNemar's test). None where nothing differs: no number would settle that.
    """
    if n == 0 or better == worse:
        return None
    discordant, difference = (better + worse) / n, abs(better - worse) / n
    spread = discordant - difference * difference
    root = _Z * math.sqrt(discordant) + Z_POWER * math.sqrt(spread)
    return math.ceil((root / difference) ** 2)


def pairs_for_scores(mean: float, deviation: float) -> int | None:
    """The same for the mean and standard deviation of paired differences of scores."""
    if mean == 0:
        return None
    return max(2, math.ceil(((_Z + Z_POWER) * deviation / mean) ** 2))


def times_for(value: float | None, low: float | None, high: float | None) -> int | None:
    """How many times the data an estimate needs to tell a difference as large from none.

    From its 95 % interval, whose width shrinks with the root of the data; with 80 % power. None
    where nothing differs.
    """
    if not value or low is None or high is None:
        return None
    half = (high - low) / 2
    return max(2, math.ceil(((_Z + Z_POWER) / _Z * half / value) ** 2))
