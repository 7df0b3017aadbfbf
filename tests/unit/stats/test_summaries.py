"""Percentiles and distributions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.summaries import TAILS, distribution, percentiles, quantiles


@pytest.mark.parametrize(
    ("values", "wanted", "found"),
    [
        ([1.0, 2.0, 3.0, 4.0], [50], [2.5]),
        ([4.0, 1.0, 3.0, 2.0], [0, 50, 100], [1.0, 2.5, 4.0]),
        ([7.0], [50, 95], [7.0, 7.0]),
        ([float(number) for number in range(101)], [50, 95, 99], [50.0, 95.0, 99.0]),
        ([], [50, 95], [None, None]),
    ],
)
def test_a_percentile_lies_between_its_neighbours(
    values: list[float], wanted: list[float], found: list[float | None]
) -> None:
    assert percentiles(values, wanted) == found


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.lists(st.floats(0, 1), max_size=3))
def test_quantiles_are_those_of_numpy_to_the_last_bit(
    values: list[float], more: list[float]
) -> None:
    wanted = [*TAILS, 0.5, 0.0, 1.0, *more]

    assert list(quantiles(np.array(values), wanted)) == list(np.quantile(values, wanted))


@pytest.mark.parametrize(
    ("score", "place"),
    [(0.0, 0), (0.05, 0), (0.1, 1), (0.55, 5), (0.9, 9), (0.99, 9), (1.0, 9), (-3.0, 0), (7.0, 9)],
)
def test_a_score_falls_into_one_of_ten_bins_and_the_last_includes_1(
    score: float, place: int
) -> None:
    assert distribution([score]) == [int(bin_ == place) for bin_ in range(10)]


@given(st.lists(st.floats(-1, 2)))
def test_every_score_is_in_a_bin(scores: list[float]) -> None:
    counts = distribution(scores)

    assert len(counts) == 10
    assert sum(counts) == len(scores)
