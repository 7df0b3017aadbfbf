"""Two raters against other libraries, and what every closeness must do."""
# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false
# The other libraries have no types.

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jaccard as oracle_jaccard
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, jaccard_score

from steelyard.model.statistics.interval import Interval
from steelyard.stats.agreement import weights_of
from steelyard.stats.two_raters import (
    Pairs,
    jaccard,
    kappa_interval,
    spearman,
)
from strategies.effort import examples
from strategies.plain_agreement import cohen_kappa, rated

SCORES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=25)


def pairs(
    one: Sequence[float], other: Sequence[float], groups: Sequence[int] | None = None
) -> Pairs:
    ratings = rated([one, other])
    return Pairs(ratings.codes[0], ratings.codes[1], ratings.values, groups)


def bounds(found: Interval) -> tuple[float, float, float]:
    """An interval that is one."""
    assert found.low is not None
    assert found.value is not None
    assert found.high is not None
    return found.low, found.value, found.high


def width(found: Interval) -> float:
    low, _, high = bounds(found)
    return high - low


def drawn(seed: int, n: int = 60, q: int = 6) -> tuple[list[int], list[int]]:
    chance = np.random.default_rng(seed)
    one = chance.integers(0, q, n)
    other = np.clip(one + chance.integers(-2, 3, n), 0, q - 1)
    return one.tolist(), other.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_spearman_agrees_with_scipy(seed: int) -> None:
    one, other = drawn(seed)
    assert spearman(pairs(one, other)).value == pytest.approx(
        spearmanr(one, other).statistic, abs=1e-9
    )


def test_spearman_of_numbers_without_ties_agrees_with_scipy() -> None:
    chance = np.random.default_rng(3)
    one, other = chance.normal(size=(2, 50)).tolist()
    expected = spearmanr(one, other).statistic
    assert spearman(pairs(one, other)).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighting", [None, "linear", "quadratic"])
def test_kappa_agrees_with_scikit_learn_and_with_its_table(
    seed: int, weighting: Literal["linear", "quadratic"] | None
) -> None:
    one, other = drawn(seed)
    given_pairs = pairs(one, other)
    weights = weights_of(given_pairs.values, weighting) if weighting else None
    found = kappa_interval(given_pairs, weights)
    table = np.zeros((len(given_pairs.values),) * 2)
    np.add.at(table, (given_pairs.one, given_pairs.other), 1)
    assert found.value == pytest.approx(cohen_kappa_score(one, other, weights=weighting), abs=1e-9)
    assert found.value == pytest.approx(cohen_kappa(table, weights), abs=1e-9)
    assert found.n == 60


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("ab", "ab", 1),
        ("ab", "b", 0.5),
        ("a", "b", 0),
        ("", "", 1),
        ("", "a", 0),
        ("abc", "bd", 0.25),
    ],
)
def test_jaccard_is_what_both_chose_of_what_either_chose(
    one: str, other: str, shared: float
) -> None:
    assert jaccard(set(one), set(other)) == shared


def test_jaccard_agrees_with_scipy_and_scikit_learn() -> None:
    chance = np.random.default_rng(8)
    first, second = chance.random((2, 40, 5)) < 0.5
    names = np.array(list("abcde"))
    found = [
        jaccard(set(names[one].tolist()), set(names[other].tolist()))
        for one, other in zip(first, second, strict=True)
    ]
    by_scipy = [1 - oracle_jaccard(one, other) for one, other in zip(first, second, strict=True)]
    by_sklearn = jaccard_score(first, second, average="samples", zero_division=1.0)
    assert found == pytest.approx(by_scipy, abs=1e-9)
    assert np.mean(found) == pytest.approx(by_sklearn, abs=1e-9)


@settings(max_examples=examples(50))
@given(SCORES)
def test_closeness_does_not_depend_on_who_is_first_or_on_the_order_of_items(
    items: list[tuple[int, int]],
) -> None:
    one, other = map(list, zip(*items, strict=True))
    turned = pairs(other[::-1], one[::-1])
    for measure in (spearman, kappa_interval):
        first, second = measure(pairs(one, other)), measure(turned)
        assert first.value == pytest.approx(second.value, abs=1e-9)
        if first.low is not None:
            low, value, high = bounds(first)
            assert -1 <= low <= value <= high <= 1


def test_raters_who_never_vary_have_no_rank_correlation() -> None:
    found = spearman(pairs([2, 2, 2], [1, 2, 3]))
    assert (found.value, found.low, found.n) == (None, None, 3)
    assert kappa_interval(pairs([2, 2], [2, 2])).value is None


@pytest.mark.parametrize("scale", [(1, 2, 3), (10, 20, 70)])
def test_ranks_know_no_distances(scale: tuple[int, ...]) -> None:
    one = [scale[k] for k in (0, 1, 2, 0, 1, 2)]
    other = [scale[k] for k in (0, 2, 2, 1, 1, 2)]
    assert spearman(pairs(one, other)).value == pytest.approx(
        spearman(pairs([0, 1, 2, 0, 1, 2], [0, 2, 2, 1, 1, 2])).value
    )


def test_items_of_one_group_are_drawn_together_and_widen_the_interval() -> None:
    one, other = drawn(5, n=20)
    alone = spearman(pairs(one * 5, other * 5))
    together = spearman(pairs(one * 5, other * 5, groups=[*range(20)] * 5))
    plain = spearman(pairs(one, other))
    assert together.method == "Spearman, Bayesian cluster bootstrap"
    assert math.isclose(width(together), width(plain), abs_tol=0.12)
    assert width(alone) < 0.75 * width(together)
