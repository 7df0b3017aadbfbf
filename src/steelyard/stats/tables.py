"""Two groups, two outcomes: whether they differ by more than chance."""

from __future__ import annotations

import math
from itertools import combinations

from steelyard.stats.arrays import np
from steelyard.stats.distributions import student_tail
from steelyard.stats.rates import FEWEST_HOLDERS, numbered

_FEW = 5
_ROUNDING = 1e-9
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


class AgainstRest:
    """A part of the records against the rest, where records are dependent or hold shares.

    A score test: under "no difference" every value has the mean of all, so that the residuals
    from it, added up by cluster, estimate the variance of the difference of the two means. The
    quantile is Student's at as many clusters of equal weight as carry the difference (Kish).
    Where few clusters hold anything but the most common value, that variance is not known: then
    an exact test must agree, in which they fall into the part by lot.
    """

    def __init__(self, values: np.ndarray, clusters: np.ndarray | None) -> None:
        self._n = len(values)
        self._residuals = values - values.mean() if self._n else values
        found = np.arange(self._n) if clusters is None else clusters
        self._labels = numbered(found)
        self._sums = np.bincount(self._labels, weights=self._residuals)
        self._sizes = np.bincount(self._labels).astype(np.float64)
        self._squares = float((self._sums**2).sum())
        self._weights = tuple(float((self._sizes**power).sum()) for power in (2, 4))
        self._gaps = self._uncommon(values)
        self._held: list[float] = self._gaps[self._gaps != 0].tolist()

    def _uncommon(self, values: np.ndarray) -> np.ndarray:
        """What each cluster differs by from one that holds the most common value alone."""
        if not self._n:
            return values
        kinds, times = np.unique(values, return_counts=True)
        return np.bincount(self._labels, weights=values - kinds[times.argmax()])

    def p_value(self, chosen: np.ndarray) -> float:
        """The two-sided p-value of the mean of some records against that of the others."""
        n, rest = len(chosen), self._n - len(chosen)
        if not n or not rest or not self._squares:
            return 1.0
        residuals = self._residuals[chosen]
        found, places = np.unique(self._labels[chosen], return_inverse=True)
        sums = np.bincount(places, weights=residuals)
        scale = 1 / n + 1 / rest
        # Of a cluster: what it adds to the one mean less what it adds to the other.
        moved = sums * scale - self._sums[found] / rest
        others = self._squares - float((self._sums[found] ** 2).sum())
        squares = float((moved**2).sum()) + others / rest**2
        clusters = len(self._sums)
        if clusters < 2 or squares <= 0:
            return 1.0
        difference = float(residuals.sum()) * scale
        error = math.sqrt(squares * clusters / (clusters - 1))
        sizes = np.bincount(places).astype(np.float64)
        freedom = self._freedom(found, sizes, n, rest)
        student = 2 * student_tail(abs(difference) / error, freedom)
        return min(1.0, max(student, self._by_lot(found, sizes)))

    def _by_lot(self, found: np.ndarray, sizes: np.ndarray) -> float:
        """The exact p-value where few clusters differ and none is cut; 0 where another decides.

        With passes and fails of whole clusters it is Fisher's exact test.
        """
        held = self._held
        if len(held) >= FEWEST_HOLDERS or bool((sizes != self._sizes[found]).any()):
            return 0.0
        clusters, chosen = len(self._gaps), len(found)
        centre = sum(held) * chosen / clusters
        seen = abs(float(self._gaps[found].sum()) - centre)
        ways = 0
        for among in range(min(len(held), chosen) + 1):
            least = math.comb(clusters - len(held), chosen - among)
            far = (
                abs(sum(part) - centre) >= seen - _ROUNDING for part in combinations(held, among)
            )
            ways += least * sum(far)
        return ways / math.comb(clusters, chosen)

    def _freedom(self, found: np.ndarray, sizes: np.ndarray, n: int, rest: int) -> float:
        whole = self._sizes[found]
        weights = (sizes / n) ** 2 + ((whole - sizes) / rest) ** 2
        first = float(weights.sum()) + (self._weights[0] - float((whole**2).sum())) / rest**2
        second = float((weights**2).sum()) + (self._weights[1] - float((whole**4).sum())) / rest**4
        return max(0.5, first**2 / second - 1)
