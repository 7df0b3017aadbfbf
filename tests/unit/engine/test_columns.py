"""Many numbers in few bytes."""

from __future__ import annotations

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.columns import Column, mean_of, rate
from steelyard.stats.bootstrap import bootstrap_mean
from steelyard.stats.intervals import wilson


def column(*numbers: float) -> Column:
    made = Column()
    for number in numbers:
        made.append(number)
    return made


@given(st.lists(st.floats(-10, 10), max_size=20))
def test_what_went_in_comes_out(numbers: list[float]) -> None:
    made = column(*numbers)

    assert list(made.numbers()) == numbers
    assert (len(made), made.total()) == (len(numbers), pytest.approx(fsum(numbers)))


@pytest.mark.parametrize(("different", "is_counted"), [(256, True), (257, False)])
def test_few_different_numbers_are_counted(different: int, is_counted: bool) -> None:
    numbers = [*map(float, range(different)), 0.0]
    made = column(*numbers)

    assert list(made.numbers()) == numbers
    assert (made.counts() is not None) is is_counted
    assert made.total() == sum(numbers)
    assert made.is_among(numbers) is is_counted


def test_passes_and_fails_are_a_rate_and_shares_a_mean() -> None:
    assert rate(column(1, 0, 1)) == wilson(2, 3)
    assert rate(column(1, 0.5)) == bootstrap_mean([1, 0.5])


def test_a_mean_is_the_same_whichever_way_it_is_found() -> None:
    few = [0.0, 0.5, 1.0] * 40

    assert mean_of(column(*few)).value == bootstrap_mean(few).value
    assert mean_of(column(0.1, 0.2)) == bootstrap_mean([0.1, 0.2])
    assert mean_of(column(), None).value is None
