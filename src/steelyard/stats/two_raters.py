"""Two raters side by side: κ, rank correlation, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from steelyard.model.statistics.interval import Interval
from steelyard.stats.arrays import np
from steelyard.stats.resampling import (
    Codes,
    Floats,
    Items,
    over_items,
    rating_patterns,
)

FEWEST_WEIGHTED = 40
"""Weights count large disagreements for much; fewer items may hold none of them by chance."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What two raters said of the same items: codes of values, an item a place."""

    one: Codes
    other: Codes
    values: Floats
    """The number that each code stands for; categories are numbered."""
    groups: Sequence[int] | None = None
    """Items of one group are not independent."""

    @property
    def items(self) -> Items:
        """The items with the patterns that are assumed beside them."""
        codes = np.stack([self.one, self.other])
        return Items.of(codes, rating_patterns(codes, len(self.values)), self.groups)


def kappa_interval(pairs: Pairs, weights: Floats | None = None) -> Interval:
    """Cohen's κ (1960, weighted 1968) with its interval."""
    given = np.eye(len(pairs.values)) if weights is None else weights
    items = pairs.items
    agreeing = given[items.codes[0], items.codes[1]]

    def kappas(times: Floats) -> Floats:
        first, second = (_habits(codes, times, len(given)) for codes in items.codes)
        n = times.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            agreed = (times @ agreeing) / n
            chance = ((first @ given) * second).sum(axis=1) / n**2
            return np.where(chance == 1, np.nan, (agreed - chance) / (1 - chance))

    is_enough = weights is None or items.independent >= FEWEST_WEIGHTED
    return over_items(kappas, items, "Cohen", is_enough=is_enough and items.has_contrast)


def spearman(pairs: Pairs) -> Interval:
    """Spearman's rank correlation (1904) with its interval.

    Ties get the mean of their ranks. It says whether the two put items into the same order, and
    nothing about one being stricter than the other; that is what the difference shows.
    """
    items = pairs.items
    one, other = items.codes

    def correlations(times: Floats) -> Floats:
        counts = [_habits(codes, times, len(pairs.values)) for codes in items.codes]
        first, second = (_ranks(count) for count in counts)
        together = (times * first[:, one] * second[:, other]).sum(axis=1)
        spreads = (counts[0] * first**2).sum(axis=1) * (counts[1] * second**2).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            # rounding can step just outside [-1, 1]
            return np.clip(together / np.sqrt(spreads), -1, 1)

    return over_items(correlations, items, "Spearman", is_enough=items.has_contrast)


def _habits(codes: Codes, times: Floats, q: int) -> Floats:
    """How often a rater gave each value, a row a draw."""
    order = np.argsort(codes, kind="stable")
    given, starts = np.unique(codes[order], return_index=True)
    counts = np.zeros((len(times), q))
    counts[:, given] = np.add.reduceat(times[:, order], starts, axis=1)
    return counts


def _ranks(counts: Floats) -> Floats:
    """The mean rank of each value from how often each occurs, centred on the mean of all."""
    return np.cumsum(counts, axis=1) - counts / 2 - counts.sum(axis=1, keepdims=True) / 2


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of what either chose that both chose (Jaccard 1912); two that chose nothing
    agree."""
    either = one | other
    return len(one & other) / len(either) if either else 1.0
