"""Differences of two estimates, design effects, and how much data would settle one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.clustered import design_effect
from steelyard.stats.independent import difference
from steelyard.stats.intervals import Interval, wilson
from steelyard.stats.power import times_for


def ends(found: Interval) -> tuple[float, float, float]:
    """An estimate that there is: its value and its bounds."""
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return found.value, found.low, found.high


NOTHING = Interval(None, None, None, "wilson", 0)


def test_the_difference_of_two_rates_is_newcombes() -> None:
    """Newcombe (1998), method 10, example (a): 56/70 and 48/80, 0.2 [0.0524, 0.3339]."""
    found = difference(wilson(48, 80), wilson(56, 70))

    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert (found.method, found.n) == ("mover", 70)


@pytest.mark.parametrize("pair", [(NOTHING, wilson(1, 2)), (wilson(1, 2), NOTHING)])
def test_nothing_has_no_difference(pair: tuple[Interval, Interval]) -> None:
    found = difference(*pair)

    assert (found.value, found.low, found.high, found.n) == (None, None, None, 0)


@given(st.integers(0, 40), st.integers(0, 40))
def test_a_difference_turns_its_sign_with_its_sides(first: int, second: int) -> None:
    one, other = wilson(first, 40), wilson(second, 40)
    value, low, high = ends(difference(one, other))

    assert ends(difference(other, one)) == pytest.approx((-value, -high, -low))
    assert -1 <= low <= value <= high <= 1


def test_groups_that_are_all_alike_are_worth_one_record_each() -> None:
    values = [1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]
    groups = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]

    assert design_effect(values, groups) == pytest.approx(3)


@pytest.mark.parametrize(
    ("values", "groups"),
    [([1, 0, 1, 0], [0, 0, 1, 1]), ([1, 1, 1], [0, 0, 1]), ([], []), ([1, 0], [0, 1])],
)
def test_groups_never_promise_more_than_records(values: list[float], groups: list[int]) -> None:
    assert design_effect(values, groups) == 1.0


@pytest.mark.parametrize(
    ("value", "low", "high", "times"),
    [
        (0.1, 0.0, 0.2, 3),  # (1.96 + 0.84) / 1.96 squared is 2.04
        (-0.1, -0.2, 0.0, 3),
        (0.01, -0.09, 0.11, 205),
        (0.5, 0.4, 0.6, 2),
        (0.0, -0.1, 0.1, None),
        (None, None, None, None),
    ],
)
def test_how_many_times_the_data_would_settle_it(
    value: float | None, low: float | None, high: float | None, times: int | None
) -> None:
    assert times_for(value, low, high) == times
