"""Two groups, two outcomes: whether they differ by more than chance."""

from __future__ import annotations

import math

import numpy as np

_FEW = 5
_SLACK = 1 + 1e-7
"""Tables that are as likely as the one seen count, also where rounding parts them."""


def independence(a: int, b: int, c: int, d: int) -> float:
    """The two-sided p-value of the 2 × 2 table of (a, b) in one group and (c, d) in the other.

    Pearson's score test where every cell is expected to hold five or more, else Fisher's exact
    test, which sums all tables that are no more likely than the one seen.
    """
    n = a + b + c + d
    rows, columns = (a + b, c + d), (a + c, b + d)
    if not all((*rows, *columns)):
        return 1.0
    if min(rows) * min(columns) / n < _FEW:
        return _fisher(a, rows, columns)
    chi_squared = n * (a * d - b * c) ** 2 / (math.prod(rows) * math.prod(columns))
    return math.erfc(math.sqrt(chi_squared / 2))


def _fisher(a: int, rows: tuple[int, int], columns: tuple[int, int]) -> float:
    least, most = max(0, columns[0] - rows[1]), min(rows[0], columns[0])
    found = np.arange(least, most + 1)
    logs = np.array([_log_choices(int(k), rows, columns) for k in found])
    chances = np.exp(logs - logs.max())
    seen = chances[a - least]
    return min(1.0, float(chances[chances <= seen * _SLACK].sum() / chances.sum()))


def _log_choices(k: int, rows: tuple[int, int], columns: tuple[int, int]) -> float:
    return _log_comb(rows[0], k) + _log_comb(rows[1], columns[0] - k)


def _log_comb(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
