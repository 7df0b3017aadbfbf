"""Intervals against published values, and the properties that every interval must have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.statistics.interval import Interval
from steelyard.stats.intervals import wilson

COUNTS = st.integers(1, 1_000_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def width(interval: Interval) -> float:
    low, high = ends(interval)
    return high - low


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (180, 200, 0.851, 0.934),
        (40, 40, 0.912, 1.0),
        # Newcombe 1998, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_gives_the_published_interval(
    successes: int, n: int, low: float, high: float
) -> None:
    interval = wilson(successes, n)

    assert ends(interval) == pytest.approx((low, high), abs=5e-4)
    assert (interval.value, interval.method, interval.n) == (successes / n, "wilson", n)


def test_without_items_there_is_neither_value_nor_interval() -> None:
    assert wilson(0, 0) == Interval(None, None, None, "wilson", 0)


@given(COUNTS)
def test_wilson_lies_in_the_unit_interval_and_contains_the_rate(counts: tuple[int, int]) -> None:
    successes, n = counts
    low, high = ends(wilson(successes, n))

    assert 0 <= low <= successes / n <= high <= 1


@given(COUNTS, st.integers(2, 1000))
def test_wilson_is_narrower_with_more_items_of_the_same_rate(
    counts: tuple[int, int], times: int
) -> None:
    successes, n = counts

    assert width(wilson(successes * times, n * times)) < width(wilson(successes, n))


@given(COUNTS)
def test_wilson_of_the_fails_mirrors_wilson_of_the_passes(counts: tuple[int, int]) -> None:
    successes, n = counts
    low, high = ends(wilson(successes, n))

    assert ends(wilson(n - successes, n)) == pytest.approx((1 - high, 1 - low))
