# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false
"""Tails, tables, multiplicity and the smaller figures, against other libraries and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle
from statsmodels.stats.multitest import multipletests

from steelyard.stats.alternative import alternative_annotator
from steelyard.stats.distributions import (
    beta_share,
    binomial_tail,
    normal_tail,
    student_quantile,
    student_tail,
)
from steelyard.stats.multiplicity import adjusted, holm_levels
from steelyard.stats.position import position_bias
from steelyard.stats.tables import independence

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize("freedom", [1, 2, 5, 29, 99, 5000])
@pytest.mark.parametrize("t", [-40.0, -1.5, 0.0, 0.3, 2.0, 12.0])
def test_students_tail_agrees_with_scipy(freedom, t):
    assert student_tail(t, freedom) == pytest.approx(oracle.t.sf(t, freedom), abs=1e-12)


@pytest.mark.parametrize("probability", [0.001, 0.2, 0.5, 0.975, 0.9999])
@pytest.mark.parametrize("freedom", [1, 9, 99])
def test_students_quantile_agrees_with_scipy(probability, freedom):
    expected = oracle.t.ppf(probability, freedom)
    assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("k", "n"), [(0, 5), (1, 1), (3, 10), (10, 10), (11, 10), (600, 1000)])
def test_the_binomial_tail_agrees_with_scipy(k, n):
    assert binomial_tail(k, n) == pytest.approx(oracle.binom.sf(k - 1, n, 0.5), abs=1e-12)


def test_ends_of_the_incomplete_beta_function():
    assert (beta_share(2, 3, 0), beta_share(2, 3, 1)) == (0, 1)
    assert normal_tail(1.96) == pytest.approx(oracle.norm.sf(1.96), abs=1e-15)


@pytest.mark.parametrize(
    ("how", "theirs"), [("benjamini-hochberg", "fdr_bh"), ("benjamini-yekutieli", "fdr_by")]
)
def test_adjusted_p_values_agree_with_statsmodels(how, theirs):
    chance = np.random.default_rng(8)
    for size in (1, 2, 7, 200):
        found = chance.random(size) ** 3
        assert adjusted(list(found), how) == pytest.approx(
            multipletests(found, method=theirs)[1], abs=1e-12
        )


@given(P_VALUES)
def test_adjusting_never_makes_a_p_value_smaller_nor_changes_the_order(found):
    after = adjusted(found)
    pairs = list(zip(found, after, strict=True))
    assert all(new >= min(old, 1) - 1e-12 for old, new in pairs)
    assert [new for _, new in sorted(pairs)] == sorted(after)


def test_nothing_to_adjust():
    assert adjusted([]) == []


def test_tables_agree_with_scipy():
    chance = np.random.default_rng(9)
    for size in (3, 10, 40, 300):
        for _ in range(40):
            a, b, c, d = (int(n) for n in chance.integers(0, size, 4))
            table = [[a, b], [c, d]]
            if not all((a + b, c + d, a + c, b + d)):
                assert independence(a, b, c, d) == 1
                continue
            smallest = min(a + b, c + d) * min(a + c, b + d) / (a + b + c + d)
            expected = (
                oracle.fisher_exact(table).pvalue
                if smallest < 5
                else oracle.chi2_contingency(table, correction=False).pvalue
            )
            assert independence(a, b, c, d) == pytest.approx(expected, abs=1e-9)


def test_a_judge_that_looks_at_places():
    picks = [("first", "first")] * 3 + [("first", "second")] * 5 + [("tie", "first")] * 2
    found = position_bias(picks)
    assert (found.flip_rate.value, found.flip_rate.n) == (3 / 8, 8)
    assert (found.first_rate.value, found.first_rate.n) == (pytest.approx(13 / 18), 18)
    assert (found.ties, found.pairs) == (2, 10)


def labels(rows):
    return {
        f"person_{k}": {f"i{n}": one for n, one in enumerate(row)} for k, row in enumerate(rows)
    }


def test_a_judge_that_says_what_people_say_can_stand_in():
    chance = np.random.default_rng(10)
    truth = chance.integers(0, 2, 60)
    people = labels([np.where(chance.random(60) < 0.15, 1 - truth, truth) for _ in range(3)])
    judge = {f"i{n}": int(one) for n, one in enumerate(truth)}
    found = alternative_annotator(people, judge)
    assert found is not None
    assert (found.winning_rate, found.people, found.items) == (1.0, 3, 60)
    assert found.passed
    assert found.advantage > 0.85


def test_a_judge_that_guesses_cannot():
    chance = np.random.default_rng(11)
    truth = chance.integers(0, 5, 60)
    people = labels([truth, truth, truth])
    judge = {f"i{n}": int(one) for n, one in enumerate(chance.integers(0, 5, 60))}
    for alignment in ("exact", "distance"):
        found = alternative_annotator(people, judge, alignment=alignment)
        assert found is not None
        assert (found.winning_rate, found.passed) == (0.0, False)


def test_a_judge_that_is_one_of_three_who_agree():
    people = labels([[1] * 30, [1] * 30])
    found = alternative_annotator(people, {f"i{n}": 1 for n in range(30)})
    assert found is not None
    assert (found.winning_rate, found.advantage) == (1.0, 1.0)
    lost = alternative_annotator(people, {f"i{n}": 0 for n in range(30)})
    assert lost is not None
    assert (lost.winning_rate, lost.advantage) == (0.0, 0.0)


@pytest.mark.parametrize(
    "rows", [[[1] * 60], [[1] * 29, [1] * 29], []], ids=["one person", "29 items", "nobody"]
)
def test_too_little_to_say(rows):
    assert alternative_annotator(labels(rows), {f"i{n}": 1 for n in range(60)}) is None


def test_items_the_judge_left_out_do_not_count():
    people = labels([[1] * 40, [1] * 40])
    assert alternative_annotator(people, {f"i{n}": 1 for n in range(29)}) is None


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=9)


@given(P_VALUES)
def test_holms_p_values_agree_with_statsmodels(p_values: list[float]) -> None:
    found = holm_levels(p_values, 0.05)
    expected = multipletests(p_values, method="holm")[1]

    assert [p_value for _, p_value in found] == pytest.approx(list(expected))


@given(P_VALUES)
def test_a_test_is_rejected_at_its_own_level_just_where_it_is_among_all(
    p_values: list[float],
) -> None:
    for given_p, (level, p_value) in zip(p_values, holm_levels(p_values, 0.05), strict=True):
        assert (given_p <= level * (1 + 1e-12)) is (p_value <= 0.05 * (1 + 1e-12))
