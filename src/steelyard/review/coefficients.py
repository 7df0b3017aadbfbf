"""The coefficients of a question by its type, with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from steelyard.model.agreement import Asked, Estimate
from steelyard.model.validation import Counts
from steelyard.stats.agreement import Ratings, weights_of
from steelyard.stats.agreement_intervals import ac_interval, alpha_interval, fleiss_interval
from steelyard.stats.bootstrap import bootstrap_mean
from steelyard.stats.confusion import rates_of
from steelyard.stats.intervals import Interval, wilson
from steelyard.stats.two_raters import Pairs, jaccard, kappa_interval, spearman

if TYPE_CHECKING:
    from numpy.typing import NDArray

_Measure: TypeAlias = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Rated:
    """Codes of answers, a row a rater and a column an item, each item rated twice at least."""

    ratings: Ratings
    groups: Sequence[int]
    """Which items belong to one record, and are not independent."""

    @property
    def raters(self) -> int:
        """How many there are."""
        return len(self.ratings.codes)


def estimates(kind: Asked, rated: Rated) -> tuple[Estimate, ...]:
    """What is said of answers of which each is one value.

    κ after Cohen for two raters and after Fleiss for more, beside AC1, which does not fall where
    nearly all answers are the same. Scores also have an order and distances.
    """
    if not len(rated.groups):
        return ()
    return tuple(estimate_of(name, rated) for name in (_SCORES if kind == "score" else _NAMES))


def estimate_of(name: str, rated: Rated) -> Estimate:
    """One of the coefficients, with the items that it rests on."""
    return estimate(name, replace(_COEFFICIENTS[name](rated), n=len(rated.groups)))


def hit_rates(human: NDArray[np.int64], judge: NDArray[np.int64]) -> tuple[Estimate, ...]:
    """TPR and TNR of a judge with Wilson's intervals; positive is what people say yes to."""
    counts = Counts(
        tp=int(((human == 1) & (judge == 1)).sum()),
        fn=int(((human == 1) & (judge == 0)).sum()),
        tn=int(((human == 0) & (judge == 0)).sum()),
        fp=int(((human == 0) & (judge == 1)).sum()),
    )
    rates = rates_of(counts)
    return estimate("tpr", rates.tpr), estimate("tnr", rates.tnr)


def judge_minus_people(rated: Rated) -> Estimate:
    """How many steps a judge is above people on average, or below; people are the first row."""
    human, judge = rated.ratings.values[rated.ratings.codes]
    return estimate("judge_minus_people", bootstrap_mean((judge - human).tolist(), rated.groups))


def shared_choices(
    choices: Sequence[Sequence[tuple[frozenset[str], frozenset[str]]]], groups: Sequence[int]
) -> Estimate:
    """How much of their choices raters share: Jaccard's index, the mean over pairs and items."""
    shared = [_mean([jaccard(one, other) for one, other in pairs]) for pairs in choices]
    return estimate("jaccard", bootstrap_mean(shared, groups))


def estimate(name: str, found: Interval) -> Estimate:
    """An interval under a name; one of width zero says nothing, and is none."""
    is_flat = found.low == found.high
    return Estimate(
        name=name,
        value=found.value,
        low=None if is_flat else found.low,
        high=None if is_flat else found.high,
        method=found.method,
        n=found.n,
    )


def _agreement(rated: Rated) -> Interval:
    """The share of pairs of answers that are the same; Wilson's interval where that is a rate."""
    if rated.raters == 2 and len(set(rated.groups)) == len(rated.groups):
        one, other = rated.ratings.codes
        return wilson(int((one == other).sum()), len(rated.groups))
    return _over_pairs(rated, lambda one, other: float(one == other))


def _over_pairs(rated: Rated, measure: _Measure) -> Interval:
    """The mean over items of a mean over the pairs of answers of an item."""
    found = [
        _mean([measure(one, other) for one, other in combinations(said, 2)])
        for said in _columns(rated)
    ]
    return bootstrap_mean(found, rated.groups)


def _kappa(rated: Rated, weights: NDArray[np.float64] | None = None) -> Interval:
    if rated.raters > 2:
        return fleiss_interval(rated.ratings, weights, rated.groups)
    return kappa_interval(_pairs(rated), weights)


def _pairs(rated: Rated) -> Pairs:
    """The answers two by two; where there are more raters, in both orders, for none is first."""
    one: list[int] = []
    other: list[int] = []
    groups: list[int] = []
    for said, group in zip(_columns(rated), rated.groups, strict=True):
        for first, second in combinations(said, 2):
            turned = [(first, second), (second, first)] if rated.raters > 2 else [(first, second)]
            for left, right in turned:
                one.append(left)
                other.append(right)
                groups.append(group)
    return Pairs(np.array(one), np.array(other), rated.ratings.values, groups)


def _columns(rated: Rated) -> Iterator[list[int]]:
    for column in rated.ratings.codes.T.tolist():
        yield [code for code in column if code >= 0]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _weighted_kappa(rated: Rated) -> Interval:
    return _kappa(rated, weights_of(rated.ratings.values, "quadratic"))


def _mean_distance(rated: Rated) -> Interval:
    values = rated.ratings.values
    return _over_pairs(rated, lambda one, other: abs(float(values[one] - values[other])))


_COEFFICIENTS: dict[str, Callable[[Rated], Interval]] = {
    "agreement": _agreement,
    "kappa": _kappa,
    "ac1": lambda rated: ac_interval(rated.ratings, groups=rated.groups),
    "alpha_nominal": lambda rated: alpha_interval(rated.ratings, "nominal", rated.groups),
    "alpha_ordinal": lambda rated: alpha_interval(rated.ratings, "ordinal", rated.groups),
    "alpha_interval": lambda rated: alpha_interval(rated.ratings, "interval", rated.groups),
    "weighted_kappa": _weighted_kappa,
    "spearman": lambda rated: spearman(_pairs(rated)),
    "mae": _mean_distance,
}
_NAMES = ("agreement", "kappa", "ac1", "alpha_nominal")
_SCORES = ("agreement", "alpha_ordinal", "alpha_interval", "weighted_kappa", "spearman", "mae")
