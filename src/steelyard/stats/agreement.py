"""How far raters agree beyond chance, over items of which some may not be rated by all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from steelyard.stats.bootstrap import SEED
from steelyard.stats.intervals import Interval
from steelyard.stats.resampling import RESAMPLES, Items, over_items
from steelyard.stats.summaries import TAILS, quantiles

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
    apart = np.abs(np.subtract.outer(values, values)) / (values.max() - values.min())
    return 1 - (apart if weighting == "linear" else apart**2)


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
    coincidences = _coincidences(ratings.counts).sum(axis=0)[None]
    return float(_alphas(coincidences, ratings.values, level)[0])


def _coincidences(counts: Floats) -> Floats:
    """The pairs of ratings within each item, every item with the weight of its ratings."""
    rated = counts[counts.sum(axis=1) > 1]
    pairs = rated[:, :, None] * rated[:, None, :]
    pairs -= rated[:, :, None] * np.eye(counts.shape[1])
    return pairs / (rated.sum(axis=1) - 1)[:, None, None]


def _alphas(coincidences: Floats, values: Floats, level: Level) -> Floats:
    """α of each of many tables of coincidences."""
    totals = coincidences.sum(axis=2)
    apart = _distances(totals, values, level)
    seen = (coincidences * apart).sum(axis=(1, 2))
    expected = (totals[:, :, None] * totals[:, None, :] * apart).sum(axis=(1, 2))
    n = totals.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return 1 - seen * (n - 1) / expected


def _distances(totals: Floats, values: Floats, level: Level) -> Floats:
    """The squared differences of values by level; ordinal ones depend on how often each occurs."""
    if level == "nominal":
        return (1 - np.eye(len(values)))[None]
    if level == "interval":
        return (np.subtract.outer(values, values) ** 2)[None]
    if level == "ratio":
        sums = np.add.outer(values, values)
        return (np.subtract.outer(values, values) / np.where(sums == 0, 1, sums))[None] ** 2
    below = np.cumsum(totals, axis=1)
    middle = below - totals / 2
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def resampled(ratings: Ratings, coefficient: Callable[[Ratings], float], method: str) -> Interval:
    """A coefficient with its interval: 2,000 seeded resamples of items, which are the sample.

    A resample in which nothing can disagree has no coefficient and is left out.
    """
    value = coefficient(ratings)
    items = ratings.codes.shape[1]
    chance = np.random.default_rng(SEED)
    found: list[float] = []
    if not np.isnan(value):
        for _ in range(RESAMPLES):
            drawn = ratings.codes[:, chance.integers(0, items, items)]
            found.append(coefficient(Ratings(drawn, ratings.values)))
    return _between(value, np.array(found), method, ratings.pairs)


def resampled_alpha(
    ratings: Ratings, level: Level, groups: Sequence[int] | None = None
) -> Interval:
    """Krippendorff's α with its interval: all resamples in one pass."""
    items = _rated(ratings, groups, 2)
    q = len(ratings.values)
    flat = _coincidences(Ratings(items.codes, ratings.values).counts).reshape(-1, q * q)

    def alphas(times: Floats) -> Floats:
        return _alphas((times @ flat).reshape(-1, q, q), ratings.values, level)

    return over_items(alphas, items, f"alpha {level}", width=q * q)


def resampled_ac(
    ratings: Ratings, weights: Floats | None = None, groups: Sequence[int] | None = None
) -> Interval:
    """Gwet's AC1, with weights AC2, with its interval: all resamples in one pass."""
    q = len(ratings.values)

    def by_chance(shares: Floats, given: Floats) -> Floats:
        return given.sum() * (shares * (1 - shares)).sum(axis=1) / max(1, q * (q - 1))

    name = "AC1" if weights is None else "AC2"
    return _beyond_chance(ratings, weights, by_chance, name, groups)


def resampled_fleiss(
    ratings: Ratings, weights: Floats | None = None, groups: Sequence[int] | None = None
) -> Interval:
    """Fleiss' κ with its interval: all resamples in one pass."""

    def by_chance(shares: Floats, given: Floats) -> Floats:
        return ((shares @ given) * shares).sum(axis=1)

    return _beyond_chance(ratings, weights, by_chance, "Fleiss", groups)


def _beyond_chance(
    ratings: Ratings,
    weights: Floats | None,
    by_chance: Callable[[Floats, Floats], Floats],
    method: str,
    groups: Sequence[int] | None,
) -> Interval:
    """A coefficient that knows its items by their agreement and their shares alone."""
    items = _rated(ratings, groups, 1)
    rated = Ratings(items.codes, ratings.values).counts
    sizes = rated.sum(axis=1)
    given = np.eye(len(ratings.values)) if weights is None else weights
    is_pair = (sizes > 1).astype(np.float64)
    pairs = np.where(sizes > 1, sizes * (sizes - 1), 1)
    agreeing = (rated * (rated @ given - 1)).sum(axis=1) / pairs * is_pair
    shares = rated / sizes[:, None]

    def coefficients(times: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            agreed = (times @ agreeing) / (times @ is_pair)
            chance = by_chance(times @ shares / times.sum(axis=1)[:, None], given)
            return np.where(chance == 1, np.nan, (agreed - chance) / (1 - chance))

    return over_items(coefficients, items, method, n=ratings.pairs)


def _rated(ratings: Ratings, groups: Sequence[int] | None, least: int) -> Items:
    """The items that so many have rated."""
    is_rated = (ratings.codes >= 0).sum(axis=0) >= least
    chosen = None if groups is None else np.asarray(groups)[is_rated].tolist()
    return Items.of(ratings.codes[:, is_rated], chosen)


def _between(value: float, found: NDArray[Any], method: str, n: int) -> Interval:
    sound = found[np.isfinite(found)]
    if np.isnan(value) or not len(sound):
        return Interval(None if np.isnan(value) else value, None, None, method, n)
    low, high = quantiles(sound, TAILS)
    return Interval(value, min(low, value), max(high, value), method, n)
