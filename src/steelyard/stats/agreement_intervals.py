"""Coefficients of agreement with their intervals, all draws in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from steelyard.model.statistics.interval import Interval
from steelyard.stats.agreement import Floats, Level, Ratings, alphas_of
from steelyard.stats.arrays import np
from steelyard.stats.resampling import Items, Statistic, over_items, rating_patterns


def alpha_interval(
    ratings: Ratings, level: Level, groups: Sequence[int] | None = None
) -> Interval:
    """Krippendorff's α with its interval."""
    items = _rated(ratings, groups, 2)
    counts = Ratings(items.codes, ratings.values).counts

    def alphas(times: Floats) -> Floats:
        return alphas_of(counts, times, ratings.values, level)

    return over_items(alphas, items, f"alpha {level}", is_enough=items.has_contrast)


def ac_interval(
    ratings: Ratings, weights: Floats | None = None, groups: Sequence[int] | None = None
) -> Interval:
    """Gwet's AC1, with weights AC2, with its interval."""
    q = len(ratings.values)

    def by_chance(shares: Floats, given: Floats) -> Floats:
        if q < 2:
            return np.ones(len(shares))
        return given.sum() * (shares * (1 - shares)).sum(axis=1) / (q * (q - 1))

    items = _rated(ratings, groups, 1)
    name = "AC1" if weights is None else "AC2"
    found = over_items(_beyond_chance(ratings, items, weights, by_chance), items, name)
    return replace(found, n=ratings.pairs)


def fleiss_interval(
    ratings: Ratings, weights: Floats | None = None, groups: Sequence[int] | None = None
) -> Interval:
    """Fleiss' κ with its interval."""

    def by_chance(shares: Floats, given: Floats) -> Floats:
        return ((shares @ given) * shares).sum(axis=1)

    items = _rated(ratings, groups, 1)
    coefficients = _beyond_chance(ratings, items, weights, by_chance)
    found = over_items(coefficients, items, "Fleiss", is_enough=items.has_contrast)
    return replace(found, n=ratings.pairs)


def _beyond_chance(
    ratings: Ratings,
    items: Items,
    weights: Floats | None,
    by_chance: Callable[[Floats, Floats], Floats],
) -> Statistic:
    """A coefficient that knows its items by their agreement and their shares alone."""
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

    return coefficients


def _rated(ratings: Ratings, groups: Sequence[int] | None, least: int) -> Items:
    """The items that so many have rated."""
    is_rated = (ratings.codes >= 0).sum(axis=0) >= least
    codes = ratings.codes[:, is_rated]
    chosen = None if groups is None else np.asarray(groups)[is_rated].tolist()
    return Items.of(codes, rating_patterns(codes, len(ratings.values)), chosen)
