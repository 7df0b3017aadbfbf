# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false
"""Flipping the signs of clusters: exact where that is quick, and never more sure than McNemar."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from steelyard.stats.clustered import coarser, flip_p
from steelyard.stats.paired import mcnemar


@given(st.integers(0, 10), st.integers(0, 4))
def test_single_passes_and_fails_give_mcnemars_exact_test(gained, lost):
    values = [1.0] * gained + [-1.0] * lost + [0.0] * 5
    expected = mcnemar(gained, lost)
    assert flip_p(values, range(len(values))) == pytest.approx(expected, abs=1e-9)


def test_many_single_passes_give_mcnemars_exact_test_too():
    assert flip_p([1.0] * 40 + [-1.0] * 22, range(62)) == pytest.approx(mcnemar(40, 22), abs=1e-9)


def every_pattern(sums):
    totals = np.array([np.dot(signs, sums) for signs in product((-1, 1), repeat=len(sums))])
    return float((np.abs(totals) >= abs(sum(sums))).mean())


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=10))
def test_ties_of_repeats_are_ties(thirds):
    assert flip_p([one / 3 for one in thirds], range(len(thirds))) == pytest.approx(
        every_pattern(thirds), abs=1e-12
    )


def test_thirteen_records_of_three_repeats():
    thirds = [1, 1, 1, 1, 1, 1, 2, 2, -1, -1, 1, -1, 1]
    assert flip_p([one / 3 for one in thirds], range(13)) == pytest.approx(every_pattern(thirds))


def test_a_sum_of_zero_is_no_evidence():
    assert flip_p([1 / 3, -1 / 3] * 20, range(40)) == 1.0


def test_sums_without_a_common_step_are_drawn():
    values = np.random.default_rng(8).normal(0.3, 1, 40)
    expected = oracle.ttest_1samp(values, 0).pvalue
    assert flip_p(values, range(40)) == pytest.approx(expected, abs=0.02)


def test_steps_that_fit_no_whole_number_are_drawn():
    primes = (983, 991, 997, 977, 971)
    values = [1 / prime for prime in primes for _ in range(12)]
    assert flip_p(values, range(60)) == pytest.approx(1 / 10_001, abs=1e-4)


def test_scipys_permutation_test_says_the_same():
    values = np.round(np.random.default_rng(5).normal(0.4, 1, 9), 3)
    expected = oracle.permutation_test(
        (values,), lambda sample: sample.sum(), permutation_type="samples"
    )
    assert flip_p(values, range(9)) == pytest.approx(expected.pvalue, abs=1e-9)


def test_very_many_different_sums_follow_the_normal_curve():
    values = np.random.default_rng(6).normal(0.04, 1, 3_000)
    expected = oracle.ttest_1samp(values, 0).pvalue
    assert flip_p(values, range(3_000)) == pytest.approx(expected, rel=0.05)


def test_what_moves_together_counts_once():
    one_group = flip_p([1.0] * 12 + [0.0, 0.0], [0] * 12 + [1, 2])
    own_groups = flip_p([1.0] * 12 + [0.0, 0.0], range(14))
    assert (one_group, own_groups) == (1.0, pytest.approx(2 / 2**12))


@pytest.mark.parametrize(
    ("values", "p_value"), [([], 1.0), ([0.0, 0.0], 1.0), ([0.1 + 0.2, -0.3], 1.0)]
)
def test_nothing_differs(values, p_value):
    assert flip_p(values, range(len(values))) == p_value


def test_the_fewer_groups_count_whichever_come_first() -> None:
    pairs, thirds = [7, 7, 3, 3, 9, 9], [5, 5, 5, 2, 2, 2]

    assert coarser(pairs, thirds) == coarser(thirds, pairs) == [0, 0, 0, 1, 1, 1]
    assert coarser([1, 1, 2], [4, 5, 5]) == coarser([4, 5, 5], [1, 1, 2]) == [0, 0, 1]
