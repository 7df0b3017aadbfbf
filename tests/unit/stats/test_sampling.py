"""Samples have the size that was asked for, and every member the chance that is said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.sampling import (
    Drawn,
    allocation,
    inclusion_probabilities,
    simple,
    stratified,
    systematic,
)

SIZES = st.lists(st.floats(0.01, 5), min_size=1, max_size=40)


def hits(draw: Callable[[int], list[Drawn]], times: int = 4000) -> dict[int, float]:
    """How often each place is drawn."""
    found = Counter(one.place for seed in range(times) for one in draw(seed))
    return {place: count / times for place, count in found.items()}


def test_a_simple_sample_gives_all_the_same_chance() -> None:
    shares = hits(lambda seed: simple(8, 3, seed))
    assert all(share == pytest.approx(3 / 8, abs=0.04) for share in shares.values())
    assert [one.probability for one in simple(8, 3, 0)] == [3 / 8] * 3


@pytest.mark.parametrize(
    ("sizes", "count", "equal", "shares"),
    [
        ({"a": 60, "b": 30, "c": 10}, 10, False, {"a": 6, "b": 3, "c": 1}),
        ({"a": 98, "b": 1, "c": 1}, 10, False, {"a": 8, "b": 1, "c": 1}),
        ({"a": 60, "b": 30, "c": 10}, 9, True, {"a": 3, "b": 3, "c": 3}),
        ({"a": 60, "b": 2}, 10, True, {"a": 8, "b": 2}),
        ({"a": 2, "b": 2}, 4, False, {"a": 2, "b": 2}),
        ({"a": 5}, 3, False, {"a": 3}),
    ],
)
def test_strata_get_their_share_and_one_at_least(
    sizes: dict[str, int], count: int, equal: bool, shares: dict[str, int]
) -> None:
    assert allocation(sizes, count, is_equal=equal) == shares


@pytest.mark.parametrize("count", [2, 7])
def test_what_cannot_be_divided_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="3 strata of 6"):
        allocation({"a": 1, "b": 2, "c": 3}, count)


@given(st.dictionaries(st.text(max_size=2), st.integers(1, 30), min_size=1), st.data())
def test_shares_add_up_and_fit(sizes: dict[str, int], data: st.DataObject) -> None:
    count = data.draw(st.integers(len(sizes), sum(sizes.values())))
    for equal in (False, True):
        shares = allocation(sizes, count, is_equal=equal)
        assert sum(shares.values()) == count
        assert all(1 <= shares[name] <= size for name, size in sizes.items())


def test_in_a_stratified_sample_the_chance_is_that_of_the_stratum() -> None:
    strata = ["pass"] * 8 + ["fail"] * 2
    found = stratified(strata, 4, 0, is_equal=True)
    assert Counter(one.probability for one in found) == {2 / 8: 2, 1.0: 2}
    shares = hits(lambda seed: stratified(strata, 4, seed, is_equal=True), 2000)
    assert all(shares[place] == pytest.approx(0.25, abs=0.05) for place in range(8))
    assert shares[8] == shares[9] == 1


@given(SIZES, st.data())
def test_chances_go_with_sizes_and_add_up(sizes: list[float], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(sizes)))
    chances = inclusion_probabilities(sizes, count)
    assert sum(chances) == pytest.approx(count)
    assert all(0 < one <= 1 for one in chances)
    free = [(size, one) for size, one in zip(sizes, chances, strict=True) if one < 1]
    for size, one in free:
        assert one / size == pytest.approx(free[0][1] / free[0][0])


def test_whoever_has_no_size_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        inclusion_probabilities([1, 0], 1)


def test_a_systematic_sample_keeps_every_chance() -> None:
    chances = inclusion_probabilities([8, 1, 1, 2, 0.5, 0.5, 4], 3)
    shares = hits(lambda seed: systematic(chances, seed))
    assert chances[0] == 1
    assert [shares[place] for place in range(7)] == pytest.approx(chances, abs=0.04)


@given(SIZES, st.integers(0, 1000), st.data())
def test_a_systematic_sample_has_its_size_and_no_member_twice(
    sizes: list[float], seed: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, len(sizes)))
    chances = inclusion_probabilities(sizes, count)
    found = systematic(chances, seed)
    assert len({one.place for one in found}) == len(found) == count
    assert found == systematic(chances, seed)


def test_weights_by_chance_bring_back_the_mean() -> None:
    """What a queue near the threshold shows, weighed by 1/π, is what the whole would show."""
    chance = np.random.default_rng(0)
    truth = chance.random(300) < 0.7
    sizes = np.where(truth, 0.1, 1.0)
    chances = inclusion_probabilities(sizes.tolist(), 60)
    plain: list[float] = []
    weighed: list[float] = []
    for seed in range(400):
        found = systematic(chances, seed)
        said = np.array([truth[one.place] for one in found], dtype=float)
        weights = np.array([1 / one.probability for one in found])
        plain.append(float(said.mean()))
        weighed.append(float(weights @ said / weights.sum()))
    assert abs(np.mean(plain) - truth.mean()) > 0.3
    assert np.mean(weighed) == pytest.approx(truth.mean(), abs=0.02)


def test_nothing_to_draw_from_draws_nothing() -> None:
    assert systematic([], 0) == []
