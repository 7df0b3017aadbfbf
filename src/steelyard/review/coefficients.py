"""The coefficients of a question by its type, with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from steelyard.model.statistics.agreement import Estimate
from steelyard.model.statistics.interval import Interval
from steelyard.stats.agreement import Ratings, weights_of
from steelyard.stats.agreement_intervals import ac_interval, alpha_interval, fleiss_interval
from steelyard.stats.arrays import np
from steelyard.stats.correction import Labels, weighted_intervals
from steelyard.stats.rates import mean_interval
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
    chances: Sequence[float | None] = ()
    """The chance with which each item was drawn; None where somebody picked it. Empty where none
    is known."""

    @property
    def raters(self) -> int:
        """How many there are."""
        return len(self.ratings.codes)

    @property
    def clusters(self) -> Sequence[int] | None:
        """The groups; None where every item is one of its own."""
        return _clusters(self.groups)


def estimates(names: Sequence[str], rated: Rated) -> tuple[Estimate, ...]:
    """What is said of answers of which each is one value.

    κ after Cohen for two raters and after Fleiss for more, beside AC1, which does not fall where
    nearly all answers are the same. Scores also have an order and distances.
    """
    if not len(rated.groups):
        return ()
    return tuple(estimate_of(name, rated) for name in names)


def estimate_of(name: str, rated: Rated) -> Estimate:
    """One of the coefficients, with the items that it rests on."""
    return estimate(name, replace(_COEFFICIENTS[name](rated), n=len(rated.groups)))


def hit_rates(rated: Rated) -> tuple[Estimate, ...]:
    """TPR and TNR of a judge; people are the first row, positive is what they say yes to."""
    human, judge = rated.ratings.codes
    groups = np.asarray(rated.groups)
    if rated.chances:
        is_drawn = np.array([one is not None for one in rated.chances])
        human, judge, groups = human[is_drawn], judge[is_drawn], groups[is_drawn]
        chances = np.array([one for one in rated.chances if one is not None])
        if len(set(chances.tolist())) > 1:
            labels = Labels(good=human == 1, passed=judge == 1, clusters=groups, chances=chances)
            named = zip(("tpr", "tnr"), weighted_intervals(labels), strict=True)
            return tuple(estimate(name, found) for name, found in named)
    return tuple(
        estimate(name, mean_interval(is_right[is_asked], _clusters(groups[is_asked].tolist())))
        for name, is_asked, is_right in (
            ("tpr", human == 1, judge == 1),
            ("tnr", human == 0, judge == 0),
        )
    )


def judge_minus_people(rated: Rated) -> Estimate:
    """How many steps a judge is above people on average, or below; people are the first row."""
    human, judge = rated.ratings.values[rated.ratings.codes]
    span = _span(rated)
    bounds = (-span, span) if span else None
    found = mean_interval(judge - human, rated.clusters, bounds)
    return estimate("judge_minus_people", found)


def shared_choices(
    choices: Sequence[Sequence[tuple[frozenset[str], frozenset[str]]]], groups: Sequence[int]
) -> Estimate:
    """How much of their choices raters share: Jaccard's index, the mean over pairs and items."""
    shared = [_mean([jaccard(one, other) for one, other in pairs]) for pairs in choices]
    return estimate("jaccard", mean_interval(shared, _clusters(groups)))


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
    """The share of pairs of answers that are the same."""
    return mean_interval(
        _over_pairs(rated, lambda one, other: float(one == other)), rated.clusters
    )


def _over_pairs(rated: Rated, measure: _Measure) -> list[float]:
    """For each item the mean over the pairs of its answers."""
    return [
        _mean([measure(one, other) for one, other in combinations(answers, 2)])
        for answers in _columns(rated)
    ]


def _clusters(groups: Sequence[int]) -> Sequence[int] | None:
    """The groups; None where every item is one of its own."""
    return None if len(set(groups)) == len(groups) else groups


def _span(rated: Rated) -> float:
    values = rated.ratings.values
    return float(values.max() - values.min())


def _kappa(rated: Rated, weights: NDArray[np.float64] | None = None) -> Interval:
    if rated.raters > 2:
        return fleiss_interval(rated.ratings, weights, rated.groups)
    return kappa_interval(_pairs(rated), weights)


def _pairs(rated: Rated) -> Pairs:
    """The answers two by two; where there are more raters, in both orders, for none is first."""
    one: list[int] = []
    other: list[int] = []
    groups: list[int] = []
    for answers, group in zip(_columns(rated), rated.groups, strict=True):
        for first, second in combinations(answers, 2):
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
    values, span = rated.ratings.values, _span(rated)
    distances = _over_pairs(rated, lambda one, other: abs(float(values[one] - values[other])))
    return mean_interval(distances, rated.clusters, (0.0, span) if span else None)


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
NAMES = ("agreement", "kappa", "ac1", "alpha_nominal")
SCORES = ("agreement", "alpha_ordinal", "alpha_interval", "weighted_kappa", "spearman", "mae")
