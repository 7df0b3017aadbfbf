# pyright: basic, reportAttributeAccessIssue=false, reportArgumentType=false, reportOptionalOperand=false, reportOperatorIssue=false, reportCallIssue=false
"""Swapping the sides of groups: exact where few differ, and never more sure than McNemar."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as oracle

from steelyard.stats.clustered import swap_p
from steelyard.stats.paired import mcnemar


@given(st.integers(0, 10), st.integers(0, 4))
def test_single_passes_and_fails_give_mcnemars_exact_test(gained, lost):
    values = [1.0] * gained + [-1.0] * lost + [0.0] * 5
    expected = mcnemar(gained, lost)
    assert swap_p(values, range(len(values))) == pytest.approx(expected, abs=1e-9)


def test_many_groups_are_drawn_and_come_near_the_exact_value():
    assert swap_p([1.0] * 40 + [-1.0] * 22, range(62)) == pytest.approx(mcnemar(40, 22), abs=0.01)


def test_scipys_permutation_test_says_the_same():
    values = np.round(np.random.default_rng(5).normal(0.4, 1, 9), 3)
    expected = oracle.permutation_test(
        (values,), lambda sample: sample.sum(), permutation_type="samples"
    )
    assert swap_p(values, range(9)) == pytest.approx(expected.pvalue, abs=1e-9)


def test_very_many_different_sums_follow_the_normal_curve():
    values = np.random.default_rng(6).normal(0.04, 1, 3_000)
    expected = oracle.ttest_1samp(values, 0).pvalue
    assert swap_p(values, range(3_000)) == pytest.approx(expected, rel=0.05)


def test_what_moves_together_counts_once():
    one_group = swap_p([1.0] * 12 + [0.0, 0.0], [0] * 12 + [1, 2])
    own_groups = swap_p([1.0] * 12 + [0.0, 0.0], range(14))
    assert (one_group, own_groups) == (1.0, pytest.approx(2 / 2**12))


@pytest.mark.parametrize(
    ("values", "p_value"), [([], 1.0), ([0.0, 0.0], 1.0), ([0.1 + 0.2, -0.3], 1.0)]
)
def test_nothing_differs(values, p_value):
    assert swap_p(values, range(len(values))) == p_value
