"""The interval of rates and means: dependence, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.statistics.interval import Interval
from steelyard.stats.intervals import wilson
from steelyard.stats.rates import counted_interval, mean_interval, numbered, rate_interval

SCORES = st.lists(st.sampled_from((0.0, 0.25, 0.5, 0.9, 1.0)), min_size=1, max_size=40)


def ends(found: Interval) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def test_independent_passes_have_wilsons_interval() -> None:
    assert rate_interval([1.0] * 180 + [0.0] * 20) == wilson(180, 200)
    assert mean_interval([1.0] * 180 + [0.0] * 20) == wilson(180, 200)


def test_conversations_that_agree_count_once_each() -> None:
    """20 conversations of 5 turns, 16 of them good: what 20 records would show."""
    passes = [1.0] * 80 + [0.0] * 20
    found = rate_interval(passes, [place // 5 for place in range(100)])
    low, high = ends(found)

    assert (found.value, found.n, found.clusters) == (0.8, 100, 20)
    assert found.n_effective == pytest.approx(19)
    assert low < ends(wilson(16, 20))[0] < 0.7
    assert high > ends(wilson(80, 100))[1]


def test_clusters_of_one_record_change_nothing_much() -> None:
    passes = [1.0, 0.0] * 60
    alone, clustered = rate_interval(passes), rate_interval(passes, range(120))

    assert ends(clustered) == pytest.approx(ends(alone), abs=0.002)


def test_one_large_cluster_is_worth_few() -> None:
    passes = [1.0, 0.0, 1.0, 1.0] * 25
    found = rate_interval(passes, [0] * 97 + [1, 2, 3])

    assert found.n_effective is not None
    assert found.n_effective < 2


def test_one_cluster_is_one_observation() -> None:
    found = rate_interval([1.0, 1.0, 0.0, 1.0], [7] * 4)

    assert (found.clusters, found.n_effective) == (1, 1.0)


def test_repeats_never_count_for_more_than_were_made() -> None:
    balanced = [1 / 3, 2 / 3] * 30
    free, capped = rate_interval(balanced, rows=180), rate_interval(balanced, rows=90)

    assert free.n_effective == 180
    assert capped.n_effective == 90


@pytest.mark.parametrize("values", [[1.0], [0.7], [1.0] * 20, [0.7] * 20, [0.0, 0.0]])
def test_where_nothing_varies_the_interval_has_a_width(values: list[float]) -> None:
    low, high = ends(mean_interval(values))

    assert 0 <= low <= values[0] <= high <= 1
    assert high - low > 0.1


@given(SCORES)
def test_counting_values_gives_the_same_interval(values: list[float]) -> None:
    counts = {value: values.count(value) for value in set(values)}
    found, counted = mean_interval(values), counted_interval(counts)

    assert ends(counted) == pytest.approx(ends(found), abs=1e-9)
    assert (counted.value, counted.n, counted.clusters) == (found.value, found.n, None)


@given(SCORES, st.integers(1, 6))
def test_an_interval_holds_its_value_and_has_a_width(values: list[float], size: int) -> None:
    clusters = [place // size for place in range(len(values))]
    for found in (rate_interval(values, clusters), mean_interval(values, clusters)):
        low, high = ends(found)
        assert found.value is not None

        assert 0 <= low <= found.value <= high <= 1
        assert low < high


def test_scores_below_zero_widen_the_bounds() -> None:
    found = mean_interval([-0.5, 0.2, 0.4, 1.0] * 10, bounds=(-0.5, 1.0))

    assert found.value == pytest.approx(0.275)
    assert ends(found)[0] == pytest.approx(0.275 - 0.18, abs=0.02)


def test_without_bounds_it_is_students_interval_or_none() -> None:
    steps = [float(place % 7) for place in range(70)]
    low, high = ends(mean_interval(steps, bounds=None))
    nothing = mean_interval([3.0] * 12, bounds=None)

    assert (low, high) == pytest.approx((3 - 0.48, 3 + 0.48), abs=0.01)
    assert (nothing.value, nothing.low, nothing.high) == (3.0, None, None)


def test_without_items_there_is_neither_value_nor_interval() -> None:
    nothing = wilson(0, 0)

    assert rate_interval([], []) == mean_interval([]) == counted_interval({}) == nothing


def conversations(
    chance: np.random.Generator, rate: float, clusters: int, alike: float
) -> np.ndarray:
    """Passes of conversations of five turns, with this intraclass correlation."""
    rates = np.full(clusters, rate)
    if alike:
        rates = chance.beta(rate * (1 - alike) / alike, (1 - rate) * (1 - alike) / alike, clusters)
    return (chance.random((clusters, 5)) < rates[:, None]).astype(float)


@pytest.mark.parametrize("rate", [0.5, 0.9, 0.97])
@pytest.mark.parametrize("clusters", [8, 20, 60])
@pytest.mark.parametrize("alike", [0.0, 0.2, 0.5])
def test_rates_of_conversations_hold_the_truth(rate: float, clusters: int, alike: float) -> None:
    chance = np.random.default_rng(clusters)
    labels = np.repeat(np.arange(clusters), 5)
    held = 0
    for _ in range(300):
        found = rate_interval(conversations(chance, rate, clusters, alike).ravel(), labels)
        low, high = ends(found)
        held += low <= rate <= high

    assert held / 300 >= 0.92


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
def test_means_of_graded_scores_hold_the_truth(n: int, share: float) -> None:
    """Full marks for most, anything below for the rest."""
    chance = np.random.default_rng(n)
    truth, held = share + (1 - share) / 2, 0
    for _ in range(300):
        scores = np.where(chance.random(n) < share, 1.0, chance.random(n))
        low, high = ends(mean_interval(scores))
        held += low <= truth <= high

    assert held / 300 >= 0.92


@pytest.mark.parametrize("rate", [0.5, 0.7, 0.8])
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([50] + [1] * 50, id="one of 50"),
        pytest.param([30] * 3 + [1] * 30, id="three of 30"),
        pytest.param([1] * 20 + [2] * 10 + [5] * 5 + [20] * 2, id="1 to 20"),
    ],
)
def test_conversations_of_unequal_length_hold_the_truth(sizes: list[int], rate: float) -> None:
    """Whole conversations pass or fail, so that the long ones decide."""
    chance, labels = np.random.default_rng(11), np.repeat(np.arange(len(sizes)), sizes)
    held = 0
    for _ in range(500):
        passes = (chance.random(len(sizes)) < rate).astype(float)[labels]
        low, high = ends(rate_interval(passes, labels))
        held += low <= rate <= high

    assert held / 500 >= 0.92


@given(st.lists(st.integers(-4, 9)))
def test_clusters_are_numbered_in_their_order(labels: list[int]) -> None:
    found = np.array(labels, dtype=np.int64)

    again = numbered(found)

    assert again.tolist() == [sorted(set(labels)).index(label) for label in labels]
    assert numbered(again).tolist() == again.tolist()
