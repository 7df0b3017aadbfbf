"""What a jury is worth, against published values."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from steelyard.stats.jury import effective_votes, error_correlation


def test_nine_judges_who_err_together_carry_two_votes() -> None:
    assert effective_votes(9, 0.44) == pytest.approx(1.99, abs=0.005)


@pytest.mark.parametrize(
    ("judges", "correlation", "votes"), [(9, 0.0, 9), (9, 1.0, 1), (1, 0.5, 1), (3, -0.4, 3)]
)
def test_a_jury_is_worth_between_one_and_all_of_its_votes(
    judges: int, correlation: float, votes: float
) -> None:
    assert effective_votes(judges, correlation) == pytest.approx(votes)


def test_the_correlation_is_the_mean_over_pairs() -> None:
    chance = random.Random(3)
    errors = [[chance.gauss() for _ in range(30)] for _ in range(4)]
    table: Any = np.corrcoef(errors)

    expected = table[np.triu_indices(4, k=1)].mean()
    assert error_correlation(errors) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("errors", "correlation"),
    [
        ([[0.0, 1.0]], None),
        ([[1.0, 1.0], [0.0, 1.0]], None),
        ([[0.0, 1.0], [0.0, 1.0]], 1.0),
        ([[0.0, 1.0], [1.0, 0.0]], -1.0),
        ([[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]], 1.0),
    ],
)
def test_errors_that_never_vary_have_no_correlation(
    errors: list[list[float]], correlation: float | None
) -> None:
    assert error_correlation(errors) == (
        None if correlation is None else pytest.approx(correlation)
    )


def test_where_there_are_no_errors_there_is_no_correlation() -> None:
    assert error_correlation([]) is None
    assert error_correlation([[], []]) is None
