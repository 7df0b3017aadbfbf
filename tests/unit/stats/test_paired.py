"""Passes and scores of the same cases, graded twice."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.paired import mcnemar, paired_shift

stats: Any = import_module("scipy.stats")
contingency_tables: Any = import_module("statsmodels.stats.contingency_tables")
COUNTS = st.integers(min_value=0, max_value=300)


@pytest.mark.parametrize(
    ("gained", "lost", "p_value"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (3, 3, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (0, 6, 0.03125),
        (1, 9, 0.021484375),
    ],
)
def test_the_p_value_is_that_of_a_sign_test_on_the_pairs_that_differ(
    gained: int, lost: int, p_value: float
) -> None:
    assert mcnemar(gained, lost) == pytest.approx(p_value, rel=1e-12)


@given(COUNTS, COUNTS)
def test_the_p_value_is_that_of_scipy(gained: int, lost: int) -> None:
    n = gained + lost
    expected = stats.binomtest(gained, n, 0.5).pvalue if n else 1.0

    assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


def test_the_p_value_is_that_of_statsmodels() -> None:
    table = [[40, 3], [14, 43]]

    assert mcnemar(3, 14) == pytest.approx(contingency_tables.mcnemar(table, exact=True).pvalue)


def test_the_shift_is_the_mean_difference_with_an_interval_around_it() -> None:
    differences = [0.0, 0.5, -0.25, 0.25, 0.5, 0.0, 0.25, 0.0]
    found = paired_shift(differences)
    drawn = stats.bootstrap((differences,), np.mean, method="percentile", rng=7)
    oracle = drawn.confidence_interval

    assert (found.value, found.n, found.method) == (0.15625, 8, "paired bootstrap")
    assert found.low == pytest.approx(oracle.low, abs=0.02)
    assert found.high == pytest.approx(oracle.high, abs=0.02)


def test_the_repeats_of_a_case_are_drawn_together() -> None:
    differences = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    alone = paired_shift(differences)
    together = paired_shift(differences, [0, 0, 0, 1, 1, 1])

    assert together.method == "paired cluster bootstrap"
    assert (together.low, together.high) == (0.0, 1.0)
    assert alone.low is not None
    assert alone.low > 0.0


def test_without_a_pair_there_is_no_shift() -> None:
    assert paired_shift([]).value is None
