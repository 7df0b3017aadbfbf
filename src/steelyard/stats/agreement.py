"""How far raters agree beyond chance, over items of which some may not be rated by all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Level: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]
Weighting: TypeAlias = Literal["identity", "linear", "quadratic", "ordinal"]
Floats: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Ratings:
    """What raters said: codes of values, a row a rater and a column an item; -1 where nothing."""

    codes: NDArray[np.int64]
    values: Floats
    """The number that each code stands for; categories are numbered."""

    @classmethod
    def of_labels(
        cls, rows: Sequence[Sequence[str | None]], labels: Sequence[str] = ()
    ) -> Ratings:
        """Ratings by name, a row a rater; the names in order, where they have one."""
        known = list(labels) or sorted({one for row in rows for one in row if one is not None})
        place = {name: code for code, name in enumerate(known)}
        codes = np.array([[-1 if one is None else place[one] for one in row] for row in rows])
        return cls(codes, np.arange(len(known), dtype=np.float64))

    @property
    def counts(self) -> Floats:
        """How many raters put each item into each category: a row an item."""
        found = [(self.codes == code).sum(axis=0) for code in range(len(self.values))]
        return np.array(found, dtype=np.float64).T.reshape(self.codes.shape[1], len(self.values))

    @property
    def pairs(self) -> int:
        """The items that two raters or more have rated: those that can show agreement."""
        return int(((self.codes >= 0).sum(axis=0) > 1).sum())


def weights_of(values: Floats, weighting: Weighting = "identity") -> Floats:
    """How much two categories agree, from 1 for the same to 0 for the farthest.

    Ordinal weights count the pairs of categories that lie between two (Gwet 2014).
    """
    q = len(values)
    if weighting == "identity" or q < 2:
        return np.eye(q)
    if weighting == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) + 1
        between = steps * (steps - 1) / 2
        return 1 - between / between.max()
    distances = np.abs(np.subtract.outer(values, values)) / (values.max() - values.min())
    return 1 - (distances if weighting == "linear" else distances**2)


def alphas_of(counts: Floats, times: Floats, values: Floats, level: Level) -> Floats:
    """α of items, a row each with how many raters gave each value, weighted in several ways.

    Each row of `times` says how often each item counts. Items have two ratings at least.
    """
    totals = times @ counts
    n = totals.sum(axis=1)
    if level == "ordinal":
        seen, expected = _ordinal(counts, times, totals)
    else:
        distances = _distances(values, level)
        seen = times @ ((counts @ distances * counts).sum(axis=1) / (counts.sum(axis=1) - 1))
        expected = (totals @ distances * totals).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - seen * (n - 1) / expected


def _distances(values: Floats, level: Level) -> Floats:
    """The squared differences of values by level."""
    if level == "nominal":
        return 1 - np.eye(len(values))
    distances = np.subtract.outer(values, values)
    if level == "ratio":
        sums = np.add.outer(values, values)
        distances = distances / np.where(sums == 0, 1, sums)
    return distances**2


def _ordinal(counts: Floats, times: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """The disagreement seen and expected where values are as far apart as their mean ranks."""
    n = totals.sum(axis=1, keepdims=True)
    ranks = np.cumsum(totals, axis=1) - totals / 2 - n / 2
    squares = (totals * ranks**2).sum(axis=1)
    products = (ranks @ counts.T) ** 2 - ranks**2 @ counts.T
    together = (times * products / (counts.sum(axis=1) - 1)).sum(axis=1)
    # rounding can leave a little where nobody disagrees
    seen = np.where(together >= squares * (1 - 1e-12), 0, squares - together)
    return 2 * seen, 2 * (n[:, 0] * squares - (totals * ranks).sum(axis=1) ** 2)
