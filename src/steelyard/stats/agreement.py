"""How far raters agree beyond chance, over items of which some may not be rated by all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

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
    def of_numbers(cls, rows: Sequence[Sequence[float | None]]) -> Ratings:
        """Ratings on a scale, a row a rater."""
        given = np.array([[np.nan if one is None else one for one in row] for row in rows])
        values = np.unique(given[~np.isnan(given)])
        codes = np.searchsorted(values, given)
        return cls(np.where(np.isnan(given), -1, codes), values)

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


def observed(counts: Floats, weights: Floats) -> float:
    """The share of pairs of ratings of one item that agree, the mean over items."""
    rated = counts[counts.sum(axis=1) > 1]
    if not len(rated):
        return float("nan")
    sizes = rated.sum(axis=1)
    agreeing = (rated * (rated @ weights - 1)).sum(axis=1)
    return float((agreeing / (sizes * (sizes - 1))).mean())


def _shares(counts: Floats) -> Floats:
    rated = counts[counts.sum(axis=1) > 0]
    return (rated / rated.sum(axis=1, keepdims=True)).mean(axis=0)


def _corrected(agreed: float, by_chance: float) -> float:
    return (agreed - by_chance) / (1 - by_chance) if by_chance != 1 else float("nan")


def fleiss_kappa(ratings: Ratings, weights: Floats | None = None) -> float:
    """Fleiss' κ (1971), generalised to missing ratings and weights.

    Chance is two ratings drawn from all of them, so that raters count as interchangeable.
    """
    counts = ratings.counts
    given = np.eye(len(ratings.values)) if weights is None else weights
    shares = _shares(counts)
    return _corrected(observed(counts, given), float(shares @ given @ shares))


def gwet_ac(ratings: Ratings, weights: Floats | None = None) -> float:
    """Gwet's AC1, with weights AC2 (2008).

    Where nearly all ratings are the same, κ falls towards 0 however well raters agree; AC1 counts
    as chance only what can be agreement by chance, and stays where it was.
    """
    counts, q = ratings.counts, len(ratings.values)
    given = np.eye(q) if weights is None else weights
    if q < 2:
        return float("nan")
    return _corrected(observed(counts, given), _ac_chance(_shares(counts), given))


def _ac_chance(shares: Floats, weights: Floats) -> float:
    q = len(shares)
    return float(weights.sum() * (shares * (1 - shares)).sum() / (q * (q - 1)))


def gwet_ac_error(ratings: Ratings, weights: Floats | None = None) -> float:
    """The standard error of AC1 or AC2 by Gwet's linearisation, over items."""
    counts = ratings.counts[ratings.counts.sum(axis=1) > 0]
    q, n = len(ratings.values), len(counts)
    given = np.eye(q) if weights is None else weights
    shares, sizes = _shares(counts), counts.sum(axis=1)
    by_chance, value = _ac_chance(shares, given), gwet_ac(ratings, given)
    is_pair = sizes > 1
    agreed = (counts * (counts @ given - 1)).sum(axis=1) / np.where(
        is_pair, sizes * (sizes - 1), 1
    )
    single = np.where(is_pair, agreed - by_chance, 0) * n / is_pair.sum() / (1 - by_chance)
    chances = given.sum() / (q * (q - 1)) * (counts @ (1 - shares)) / sizes
    moved = single - 2 * (1 - value) * (chances - by_chance) / (1 - by_chance)
    return float(np.sqrt(((moved - value) ** 2).sum() / (n * (n - 1))))


def brennan_prediger(ratings: Ratings, weights: Floats | None = None) -> float:
    """Brennan and Prediger's coefficient (1981): by chance, all categories are as likely."""
    q = len(ratings.values)
    given = np.eye(q) if weights is None else weights
    return _corrected(observed(ratings.counts, given), float(given.sum()) / q**2)


def conger_kappa(ratings: Ratings, weights: Floats | None = None) -> float:
    """Conger's κ (1980): Cohen's for any number of raters, each with habits of their own."""
    q, r = len(ratings.values), len(ratings.codes)
    given = np.eye(q) if weights is None else weights
    rated = (ratings.codes >= 0).sum(axis=1, keepdims=True)
    found = np.array([(ratings.codes == code).sum(axis=1) for code in range(q)]).T
    habits = found[rated[:, 0] > 0] / rated[rated[:, 0] > 0]
    r = len(habits)
    mean = habits.mean(axis=0)
    together = habits.T @ habits
    spread = (together - r * np.outer(mean, mean)) / (r - 1)
    by_chance = float((given * (np.outer(mean, mean) - spread / r)).sum())
    return _corrected(observed(ratings.counts, given), by_chance)


def cohen_kappa(table: Floats | Sequence[Sequence[float]], weights: Floats | None = None) -> float:
    """Cohen's κ of two raters (1960, weighted 1968) from the table of how often they said what."""
    counted = np.asarray(table, dtype=np.float64)
    given = np.eye(len(counted)) if weights is None else weights
    shares = counted / counted.sum()
    agreed = float((given * shares).sum())
    by_chance = float((given * np.outer(shares.sum(axis=1), shares.sum(axis=0))).sum())
    return _corrected(agreed, by_chance)


def krippendorff_alpha(ratings: Ratings, level: Level = "nominal") -> float:
    """Krippendorff's α: one minus the disagreement seen over that expected by chance.

    It takes any number of raters, missing ratings and any level of measurement, which makes it
    the default where people share a queue. Items with one rating show nothing and are left out.
    """
    counts = ratings.counts
    rated = counts[counts.sum(axis=1) > 1]
    return float(alphas_of(rated, np.ones((1, len(rated))), ratings.values, level)[0])


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
