"""The plain forms of coefficients of agreement, one statement after the formula each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.stats.agreement import Floats, Level, Ratings, alphas_of


def rated(rows: Sequence[Sequence[float | None]]) -> Ratings:
    """Ratings on a scale, a row a rater."""
    given = np.array([[np.nan if one is None else one for one in row] for row in rows])
    values = np.unique(given[~np.isnan(given)])
    codes = np.searchsorted(values, given)
    return Ratings(np.where(np.isnan(given), -1, codes), values)


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
