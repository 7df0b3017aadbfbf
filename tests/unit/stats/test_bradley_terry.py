"""Strengths of several runs: a published table, a pair by hand, and what must always hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.stats.bradley_terry import Contest, bradley_terry, strengths_of

# American League, 1987 (Agresti, Categorical Data Analysis): wins of the row over the column.
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
GAMES = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=np.float64,
)
PUBLISHED = (1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0)


def contests(shares: list[float]) -> list[Contest]:
    """Two runs over some records."""
    return [Contest(place, 0, 1, share) for place, share in enumerate(shares)]


def test_the_published_strengths_of_seven_teams() -> None:
    found = bradley_terry(GAMES, prior=0)

    assert found - found[-1] == pytest.approx(PUBLISHED, abs=1e-4)
    assert float(found.mean()) == pytest.approx(0, abs=1e-12)


def test_of_two_runs_the_strengths_are_the_log_odds() -> None:
    wins = np.array([[0.0, 30.0], [10.0, 0.0]])

    assert bradley_terry(wins, prior=0).tolist() == pytest.approx(
        [math.log(3) / 2, -math.log(3) / 2]
    )
    assert np.diff(bradley_terry(wins)) == pytest.approx(-math.log(30.5 / 10.5))


def test_a_run_that_won_everything_has_a_finite_strength() -> None:
    wins = np.array([[0.0, 5.0, 5.0], [0.0, 0.0, 3.0], [0.0, 2.0, 0.0]])

    found = bradley_terry(wins)

    assert np.isfinite(found).all()
    assert found[0] == max(found)


def test_many_fits_at_once_are_the_same_as_one_by_one() -> None:
    both = np.stack([GAMES, GAMES.T])

    found = bradley_terry(both)

    assert found[0] == pytest.approx(bradley_terry(GAMES))
    assert found[1] == pytest.approx(bradley_terry(GAMES.T))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=12, max_size=12))
def test_renaming_runs_renames_strengths_and_swapping_wins_turns_them_round(
    drawn: list[int],
) -> None:
    wins = np.zeros((4, 4))
    wins[~np.eye(4, dtype=bool)] = np.asarray(drawn, dtype=np.float64) + 1
    order = [2, 0, 3, 1]

    found = bradley_terry(wins)

    assert bradley_terry(wins[np.ix_(order, order)]) == pytest.approx(found[order], abs=1e-6)
    assert bradley_terry(wins.T) == pytest.approx(-found, abs=1e-6)


def test_intervals_of_equal_runs_contain_zero_and_narrow_with_records() -> None:
    few, many = (strengths_of(contests([0.0, 1.0, 0.5, 1.0, 0.0] * times), 2) for times in (6, 60))

    for found in (few, many):
        assert all(one.low is not None and one.high is not None for one in found)
        assert all((one.low or 0) < 0 < (one.high or 0) for one in found)
    assert (few[0].high or 0) > 2 * (many[0].high or 0)
    assert (few[0].n, many[0].n) == (30, 300)


def test_the_pairs_of_a_record_and_the_records_of_a_cluster_are_drawn_together() -> None:
    shares = [0.0, 1.0] * 20
    alone = strengths_of(contests(shares), 2)
    copied = [Contest(place, 0, 1, share) for place, share in enumerate(shares) for _ in range(5)]

    together = strengths_of(copied, 2)

    assert together[0].n == alone[0].n == 40
    assert together[0].high == pytest.approx(alone[0].high, rel=0.05)


@pytest.mark.parametrize("shares", [[1.0] * 30, [1.0] * 30 + [0.0] * 9, [1.0] * 5])
def test_too_few_losses_give_a_strength_without_an_interval(shares: list[float]) -> None:
    first, second = strengths_of(contests(shares), 2)

    assert second.value is not None
    assert second.value > 0
    assert (first.low, first.high, second.low, second.high) == (None, None, None, None)


def test_runs_that_no_record_brings_together_share_what_connects_them() -> None:
    """A beats B and B beats C: nobody compared A and C, and A is still the strongest."""
    met = [Contest(n, 0, 1, float(n % 3 == 0)) for n in range(60)]
    met += [Contest(n, 1, 2, float(n % 3 == 0)) for n in range(60)]

    first, second, third = (one.value or 0 for one in strengths_of(met, 3))

    assert first > second > third
    assert second == pytest.approx(0, abs=1e-6)


@pytest.mark.trials
def test_intervals_cover_the_true_strengths() -> None:
    """80 worlds of 3 runs and 40 records: too few to tell 92 from 95 %, enough to see 85 %."""
    chance = np.random.default_rng(4)
    truth = (-0.8, 0.0, 0.8)
    covered = given_at_all = 0
    for _ in range(80):
        made = [
            Contest(record, i, j, float(chance.random() < 1 / (1 + math.exp(truth[i] - truth[j]))))
            for record in range(40)
            for i, j in ((0, 1), (0, 2), (1, 2))
        ]
        for found, true in zip(strengths_of(made, 3), truth, strict=True):
            if found.low is not None and found.high is not None:
                given_at_all += 1
                covered += found.low <= true <= found.high

    assert given_at_all >= 200
    assert covered / given_at_all >= 0.9
