# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false
"""Agreement against published values, other libraries, and what every coefficient must do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as oracle_fleiss

from steelyard.stats.agreement import Ratings, weights_of
from steelyard.stats.agreement_intervals import ac_interval, alpha_interval
from strategies.effort import examples
from strategies.plain_agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    observed,
    rated,
)

NO = None
# Krippendorff 2011: four observers, twelve units, missing data
EXAMPLE = rated(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
        [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
    ]
)
FULL = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.integers(0, 3), min_size=raters, max_size=raters), min_size=3, max_size=12
    )
)


@pytest.mark.parametrize(
    ("level", "published"),
    [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)],
)
def test_alpha_is_the_published_one(level, published):
    assert krippendorff_alpha(EXAMPLE, level) == pytest.approx(published, abs=5e-5)


@pytest.mark.parametrize(
    ("coefficient", "published"),
    [
        (fleiss_kappa, 0.76117),
        (gwet_ac, 0.77544),
    ],
)
def test_chance_corrected_coefficients_are_the_published_ones(coefficient, published):
    assert coefficient(EXAMPLE) == pytest.approx(published, abs=5e-6)


@pytest.mark.parametrize(
    ("weighting", "published"), [("ordinal", 0.89894), ("linear", 0.85874), ("quadratic", 0.91400)]
)
def test_ac2_is_the_published_one(weighting, published):
    weights = weights_of(EXAMPLE.values, weighting)
    assert gwet_ac(EXAMPLE, weights) == pytest.approx(published, abs=5e-6)


@pytest.mark.parametrize(
    ("cells", "agreed", "kappa", "ac1"),
    [
        ((118, 5, 2, 0), 0.944, -0.023, 0.941),
        ((80, 10, 5, 5), 0.85, 0.318, 0.808),
        ((40, 9, 6, 45), 0.85, 0.6995, 0.7007),
    ],
)
def test_where_nearly_all_pass_kappa_falls_and_ac1_does_not(cells, agreed, kappa, ac1):
    a, b, c, d = cells
    first = [1] * (a + b) + [0] * (c + d)
    second = [1] * a + [0] * b + [1] * c + [0] * d
    ratings = rated([first, second])
    assert observed(ratings.counts, np.eye(2)) == pytest.approx(agreed, abs=5e-4)
    assert cohen_kappa([[a, b], [c, d]]) == pytest.approx(kappa, abs=5e-4)
    assert gwet_ac(ratings) == pytest.approx(ac1, abs=5e-4)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(None, None), ("linear", "linear"), ("quadratic",) * 2]
)
def test_cohens_kappa_agrees_with_scikit_learn(ours, theirs):
    chance = np.random.default_rng(5)
    for _ in range(50):
        first, second = chance.integers(0, 5, (2, 40))
        table = np.zeros((5, 5))
        np.add.at(table, (first, second), 1)
        weights = weights_of(np.arange(5.0), ours) if ours else None
        expected = cohen_kappa_score(first, second, labels=range(5), weights=theirs)
        assert cohen_kappa(table, weights) == pytest.approx(expected, abs=1e-9)


def test_fleiss_kappa_agrees_with_statsmodels_where_nothing_is_missing():
    chance = np.random.default_rng(6)
    for _ in range(50):
        rows = chance.integers(0, 4, (3, 30))
        table, _ = aggregate_raters(rows.T)
        ratings = rated(rows.tolist())
        assert fleiss_kappa(ratings) == pytest.approx(oracle_fleiss(table), abs=1e-9)


@settings(max_examples=examples(60))
@given(FULL)
def test_alpha_and_fleiss_differ_by_the_small_sample_term_alone(items):
    """Krippendorff 2004: α = 1 − (1 − κ)·(n − 1)/n after Fleiss, where nothing is missing."""
    ratings = rated(np.array(items).T.tolist())
    n = ratings.codes.size
    kappa, alpha = fleiss_kappa(ratings), krippendorff_alpha(ratings)
    if math.isnan(kappa):
        assert math.isnan(alpha)
    else:
        assert alpha == pytest.approx(1 - (1 - kappa) * (n - 1) / n, abs=1e-9)


@given(FULL)
def test_agreement_does_not_depend_on_the_order_of_raters_or_items(items):
    rows = np.array(items).T
    turned = rated(rows[::-1, ::-1].tolist())
    ratings = rated(rows.tolist())
    for coefficient in (krippendorff_alpha, gwet_ac, fleiss_kappa):
        expected = coefficient(ratings)
        assert coefficient(turned) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_full_agreement_is_one(level):
    assert krippendorff_alpha(rated([[1, 2, 3], [1, 2, 3]]), level) == 1


def test_one_value_alone_shows_nothing():
    same = rated([[1, 1], [1, 1]])
    assert math.isnan(krippendorff_alpha(same))
    assert math.isnan(gwet_ac(same))
    assert math.isnan(fleiss_kappa(same))
    assert alpha_interval(same, "nominal").value is None
    assert ac_interval(same).value is None


def test_items_that_nobody_shares_have_no_agreement():
    apart = rated([[1, NO], [NO, 2]])
    assert apart.pairs == 0
    assert math.isnan(gwet_ac(apart))


def test_labels_keep_the_order_they_are_given_in():
    rows = [["poor", "good", NO], ["fair", "good", "good"]]
    ordered = Ratings.of_labels(rows, ("poor", "fair", "good"))
    assert ordered.codes.tolist() == [[0, 2, -1], [1, 2, 2]]
    assert Ratings.of_labels(rows).codes.tolist() == [[2, 1, -1], [0, 1, 1]]


def test_ordinal_weights_count_what_lies_between():
    expected = np.array([[1, 2 / 3, 0], [2 / 3, 1, 2 / 3], [0, 2 / 3, 1]])
    assert weights_of(np.arange(3.0), "ordinal") == pytest.approx(expected)
    assert weights_of(np.arange(3.0)) == pytest.approx(np.eye(3))
    assert weights_of(np.arange(1.0), "quadratic").tolist() == [[1]]


def test_intervals_hold_the_value_and_the_number_of_items():
    alpha = alpha_interval(EXAMPLE, "nominal")
    assert alpha.n == 11
    assert alpha.value == pytest.approx(krippendorff_alpha(EXAMPLE))
    assert alpha.low < alpha.value < alpha.high
