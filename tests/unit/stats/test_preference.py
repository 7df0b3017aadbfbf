"""Whom a judge prefers: winners of both orders, the win rate, its interval and its test."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from steelyard.model.statistics.preference import Pick, Winner
from steelyard.stats.intervals import Z95
from steelyard.stats.multiplicity import holm_levels
from steelyard.stats.orders import winner, winner_of_record
from steelyard.stats.position import position_bias
from steelyard.stats.preference import preference

PICKS: tuple[Pick, ...] = ("first", "second", "tie")
COUNTS = st.integers(0, 60)


def records(wins: int, losses: int, ties: int = 0, contradictions: int = 0) -> list[Winner]:
    """So many records of each kind."""
    counts: dict[Winner, int] = {
        "b": wins,
        "a": losses,
        "tie": ties,
        "contradiction": contradictions,
    }
    return [one for one, number in counts.items() for _ in range(number)]


def both(one: Pick, other: Pick, number: int) -> list[tuple[Pick, Pick]]:
    """So many pairs with these picks in the two orders."""
    return [(one, other)] * number


@pytest.mark.parametrize(
    ("ab", "ba", "wins"),
    [
        ("first", "second", "a"),
        ("second", "first", "b"),
        ("tie", "tie", "tie"),
        ("first", "tie", "tie"),
        ("tie", "first", "tie"),
        ("first", "first", "contradiction"),
        ("second", "second", "contradiction"),
    ],
)
def test_a_run_wins_where_both_orders_agree_on_it(ab: Pick, ba: Pick, wins: Winner) -> None:
    assert winner(ab, ba) == wins


@pytest.mark.parametrize(
    ("repeats", "wins"),
    [
        (["b"], "b"),
        (["b", "b", "a"], "b"),
        (["a", "tie", "contradiction"], "a"),
        (["a", "b"], "tie"),
        (["tie", "contradiction"], "tie"),
        (["contradiction", "contradiction"], "contradiction"),
    ],
)
def test_a_record_is_won_once_over_its_repeats(repeats: list[Winner], wins: Winner) -> None:
    assert winner_of_record(repeats) == wins


def test_swapping_the_runs_swaps_the_winners() -> None:
    swapped = {"a": "b", "b": "a", "tie": "tie", "contradiction": "contradiction"}

    for ab, ba in product(PICKS, repeat=2):
        assert winner(ba, ab) == swapped[winner(ab, ba)]


def test_ties_and_contradictions_count_half() -> None:
    found = preference(records(6, 2, 3, 1))

    assert found.win_rate.value == 8 / 12
    assert (found.wins, found.losses, found.ties, found.contradictions) == (6, 2, 3, 1)
    assert found.win_rate.n == 12


def test_the_interval_is_that_of_the_paired_difference() -> None:
    """Tango's published interval for 12 gained and 2 lost of 50 is 0.0611 to 0.3447."""
    found = preference(records(12, 2, 36)).win_rate

    assert found.value == 0.6
    assert (found.low, found.high) == (
        pytest.approx((1 + 0.0611) / 2, abs=1e-4),
        pytest.approx((1 + 0.3447) / 2, abs=1e-4),
    )


def test_the_interval_of_ties_alone_is_known_by_hand_and_has_a_width() -> None:
    """Without a win or a loss the bounds of the difference are ± z² / (n + z²)."""
    found = preference(records(0, 0, ties=40, contradictions=60)).win_rate
    half = Z95**2 / (100 + Z95**2) / 2

    assert found.value == 0.5
    assert (found.low, found.high) == (pytest.approx(0.5 - half), pytest.approx(0.5 + half))


@pytest.mark.parametrize(("wins", "losses"), [(9, 1), (3, 3), (0, 7), (60, 40), (61, 39)])
def test_the_sign_test_is_exact(wins: int, losses: int) -> None:
    found = preference(records(wins, losses, ties=5))
    expected = binomtest(wins, wins + losses).pvalue

    assert found.p_value == pytest.approx(expected)
    assert found.test == "exact sign test"


@settings(deadline=None)
@given(COUNTS, COUNTS, COUNTS)
def test_interval_test_and_verdict_never_disagree(wins: int, losses: int, ties: int) -> None:
    found = preference(records(wins, losses, ties))
    rate = found.win_rate

    if found.preferred is not None:
        assert found.p_value is not None
        assert found.p_value <= 0.05
        assert found.preferred == ("b" if wins > losses else "a")
    elif rate.low is not None and rate.high is not None:
        assert rate.low <= 0.5 <= rate.high
    if rate.value is not None:
        assert 0 <= (rate.low or 0) <= rate.value <= (rate.high or 0) <= 1
        assert rate.low != rate.high


@pytest.mark.parametrize(("wins", "preferred"), [(4, None), (5, None), (6, "b")])
def test_a_few_wins_in_a_row_are_no_preference(wins: int, preferred: str | None) -> None:
    assert preference(records(wins, 0)).preferred == preferred


def test_without_records_there_is_nothing_to_say() -> None:
    found = preference([])

    assert (found.win_rate.value, found.p_value, found.preferred) == (None, None, None)


def test_records_of_one_conversation_count_once() -> None:
    """Two conversations of ten turns: 20 wins in a row are two observations."""
    alone, together = (
        preference(records(20, 0), clusters) for clusters in (None, [0] * 10 + [1] * 10)
    )

    assert alone.preferred == "b"
    assert (together.preferred, together.test) == (None, "cluster permutation test")
    assert together.p_value == 0.5
    assert (together.win_rate.low or 0) < 0.5


def test_among_several_pairs_the_level_is_stricter() -> None:
    """20 wins of 26 are enough alone, and not among ten pairs."""
    winners = records(20, 6)
    alone = preference(winners)
    step, *_ = holm_levels([alone.p_value or 0, *[0.9] * 9], 0.05)

    among = preference(winners, among=step)

    assert (alone.preferred, among.preferred) == ("b", None)
    assert (among.level, among.adjusted_p) == (0.005, pytest.approx(10 * (alone.p_value or 0)))
    assert (among.win_rate.low or 0) <= 0.5 < (alone.win_rate.low or 0)
    assert preference([], among=step).adjusted_p is None


def test_clusters_of_one_record_are_no_clusters() -> None:
    assert preference(records(5, 3, 2), list(range(10))) == preference(records(5, 3, 2))


@pytest.mark.parametrize(
    ("rates", "n"),
    [((0.3, 0.3), 20), ((0.6, 0.05), 20), ((0.9, 0.02), 50), ((0.3, 0.0), 50), ((0.1, 0.1), 200)],
)
def test_the_interval_covers(rates: tuple[float, float], n: int) -> None:
    """Of 500 worlds at least 92 % are covered, and of equal ones at most 6 % are called."""
    chance = np.random.default_rng(n)
    truth = 0.5 + (rates[0] - rates[1]) / 2
    covered = called = 0
    for wins, losses, ties in chance.multinomial(n, [*rates, 1 - sum(rates)], size=500).tolist():
        found = preference(records(wins, losses, ties))
        covered += (found.win_rate.low or 0) <= truth <= (found.win_rate.high or 1)
        called += found.preferred is not None

    assert covered >= 460
    if rates[0] == rates[1]:
        assert called <= 30


@pytest.mark.parametrize(
    "count", [8, *(pytest.param(count, marks=pytest.mark.trials) for count in (20, 60))]
)
def test_the_interval_of_conversations_covers(count: int) -> None:
    chance = np.random.default_rng(count)
    kinds: tuple[Winner, ...] = ("b", "a", "tie")
    covered = 0
    for _ in range(300):
        drawn: list[Winner] = []
        for _ in range(count):
            common, own = (chance.choice(3, size=5, p=[0.5, 0.3, 0.2]) for _ in range(2))
            is_common = chance.random(5) < math.sqrt(0.5)
            drawn.extend(
                kinds[int(common[0] if so else one)]
                for so, one in zip(is_common, own, strict=True)
            )
        found = preference(drawn, [place // 5 for place in range(5 * count)]).win_rate
        covered += (found.low or 0) <= 0.6 <= (found.high or 1)

    assert covered >= 276


def test_a_judge_that_looks_at_places_alone() -> None:
    found = position_bias(both("first", "first", 30))

    assert (found.flip_rate.value, found.first_rate.value) == (1.0, 1.0)
    assert found.favours == "first"
    # 60 decisions about 30 pairs are 30 observations
    assert found.p_value == pytest.approx(2 * 0.5**30)
    assert 0.5 < (found.first_rate.low or 0) < 1
    assert found.first_rate.n == 60


def test_a_few_contradictions_for_one_place_among_many_pairs_are_a_bias() -> None:
    """Pairs that the judge decides by the answers say nothing about places."""
    looked = both("first", "second", 26) + both("second", "first", 26)
    eight, five = (position_bias(both("first", "first", n) + looked) for n in (8, 5))

    assert (eight.favours, eight.p_value) == ("first", pytest.approx(2 * 0.5**8))
    assert eight.first_rate.value == pytest.approx(68 / 120)
    assert (five.favours, five.p_value) == (None, pytest.approx(2 * 0.5**5))


def test_contradictions_for_both_places_are_no_bias() -> None:
    found = position_bias(both("first", "first", 8) + both("second", "second", 8))

    assert (found.favours, found.p_value, found.first_rate.value) == (None, 1.0, 0.5)


def test_the_pairs_of_one_conversation_lean_together() -> None:
    picks = both("first", "first", 8) + both("first", "second", 52)
    found = position_bias(picks, [place // 4 for place in range(60)])

    assert (found.favours, found.p_value) == (None, 0.5)


def test_a_judge_that_looks_at_answers_favours_no_place() -> None:
    found = position_bias(both("first", "second", 30))

    assert (found.flip_rate.value, found.first_rate.value) == (0.0, 0.5)
    assert found.favours is None


def test_a_judge_that_favours_the_second_place() -> None:
    assert position_bias(both("second", "second", 30)).favours == "second"


def test_without_a_decision_nothing_is_said_about_places() -> None:
    found = position_bias(both("tie", "tie", 3))

    assert (found.flip_rate.value, found.first_rate.value, found.favours) == (None, None, None)
    assert (found.ties, found.pairs) == (3, 3)


def test_pairs_of_one_conversation_widen_the_intervals() -> None:
    picks = both("first", "first", 20) + both("first", "second", 20)
    alone, together = position_bias(picks), position_bias(picks, [n // 10 for n in range(40)])

    assert (together.flip_rate.low or 0) < (alone.flip_rate.low or 0)
    assert together.flip_rate.value == alone.flip_rate.value
