"""Many tests at once: p-values that hold for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

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
