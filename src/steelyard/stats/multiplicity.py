"""Many tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from steelyard.stats.arrays import np

Adjustment: TypeAlias = Literal["benjamini-hochberg", "benjamini-yekutieli"]


def adjusted(p_values: Sequence[float], how: Adjustment = "benjamini-hochberg") -> list[float]:
    """The p-values under control of the false discovery rate.

    Of the slices that are flagged at 0.05, one in twenty is expected to be flagged by chance.
    Benjamini and Hochberg (1995) hold for tests that are independent or move together, as slices
    of one run do; Benjamini and Yekutieli (2001) hold for all, at a price in power.
    """
    found = np.asarray(p_values, dtype=np.float64)
    m = len(found)
    if m == 0:
        return []
    order = np.argsort(found, kind="stable")
    price = float((1 / np.arange(1, m + 1)).sum()) if how == "benjamini-yekutieli" else 1.0
    scaled = found[order] * m * price / np.arange(1, m + 1)
    # a smaller p-value never ends above a larger one
    rising = np.minimum.accumulate(scaled[::-1])[::-1]
    out = np.empty(m)
    out[order] = np.minimum(rising, 1.0)
    return [float(value) for value in out]


def holm_levels(p_values: Sequence[float], level: float) -> list[tuple[float, float]]:
    """For each test the level at which Holm (1979) holds it, and its adjusted p-value.

    The chance of any false positive among all tests is at most `level`. A test is rejected where
    its p-value is at most its own level, and just there its adjusted p-value is at most `level`.
    """
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    found = [(level, 1.0)] * len(p_values)
    reached, held, is_rejecting = 0.0, len(p_values), True
    for rank, place in enumerate(order):
        left = len(p_values) - rank
        reached = max(reached, min(1.0, p_values[place] * left))
        # From the first test that is not rejected on, all are held at its level.
        held = left if is_rejecting else held
        is_rejecting = reached <= level
        found[place] = (level / held, reached)
    return found
