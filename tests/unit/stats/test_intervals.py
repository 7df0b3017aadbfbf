"""Intervals against published values, and the properties that every interval must have."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.bootstrap import bootstrap_mean
from steelyard.stats.intervals import Interval, wilson

COUNTS = st.integers(1, 1_000_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
SCORES = st.lists(st.sampled_from((0.0, 0.25, 0.5, 1.0)), min_size=1, max_size=12)
MONTE_CARLO = 0.004
"""About four standard errors of the difference of two quantiles of 10,000 resamples each."""


def ends(interval: Interval) -> tuple[float, float]:
    assert interval.low is not None
    assert interval.high is not None
    return interval.low, interval.high


def width(interval: Interval) -> float:
    low, high = ends(interval)
    return high - low


def plainly_resampled(scores: list[float], clusters: list[int]) -> tuple[float, float]:
    """The textbook way: draw clusters with replacement, pool their items, take the mean."""
    chance = random.Random(7)
    names = sorted(set(clusters))
    labelled = list(zip(scores, clusters, strict=True))
    members = [[score for score, label in labelled if label == name] for name in names]
    means: list[float] = []
    for _ in range(10_000):
        chosen = chance.choices(members, k=len(members))
        pooled = [score for cluster in chosen for score in cluster]
        means.append(sum(pooled) / len(pooled))
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


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


@pytest.mark.parametrize(
    ("interval", "method"), [(wilson(0, 0), "wilson"), (bootstrap_mean([]), "bootstrap")]
)
def test_without_items_there_is_neither_value_nor_interval(
    interval: Interval, method: str
) -> None:
    assert interval == Interval(None, None, None, method, 0)


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


def test_the_bootstrap_gives_the_same_interval_every_time() -> None:
    scores = [0.1, 0.4, 0.4, 0.9, 1.0]

    assert bootstrap_mean(scores) == bootstrap_mean(scores)
    assert bootstrap_mean(scores, [1, 1, 2, 2, 3]) == bootstrap_mean(scores, [1, 1, 2, 2, 3])


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([0.0, 0.5, 1.0, 1.0] * 50, id="few different values are counted"),
        pytest.param([number**2 / 40_000 for number in range(200)], id="many are drawn"),
    ],
)
def test_the_bootstrap_agrees_with_plain_resampling(scores: list[float]) -> None:
    interval = bootstrap_mean(scores)

    assert ends(interval) == pytest.approx(
        plainly_resampled(scores, list(range(200))), abs=MONTE_CARLO
    )
    assert interval.value == pytest.approx(sum(scores) / 200)
    assert (interval.method, interval.n) == ("bootstrap", 200)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([0.0, 1.0, 1.0, 1.0, 0.0] * 60, id="few different clusters are counted"),
        pytest.param([number**2 / 90_000 for number in range(300)], id="many are drawn"),
    ],
)
def test_the_cluster_bootstrap_agrees_with_plain_resampling_of_clusters(
    scores: list[float],
) -> None:
    clusters = [number // 3 if number % 7 else number // 12 for number in range(300)]
    interval = bootstrap_mean(scores, clusters)

    assert ends(interval) == pytest.approx(
        plainly_resampled(scores, clusters), abs=2 * MONTE_CARLO
    )
    assert (interval.method, interval.n) == ("cluster bootstrap", 300)


def test_clusters_of_duplicates_widen_the_interval_as_much_as_they_should() -> None:
    scores = [float(number % 3 == 0) for number in range(100) for _ in range(4)]
    clusters = [number for number in range(100) for _ in range(4)]

    # four copies of an item say no more than one: the width doubles, as the square root of four
    assert width(bootstrap_mean(scores, clusters)) == pytest.approx(
        2 * width(bootstrap_mean(scores)), rel=0.05
    )


def test_the_names_of_clusters_do_not_matter() -> None:
    scores = [0.0, 1.0, 1.0, 0.0, 1.0]

    assert bootstrap_mean(scores, [0, 0, 1, 1, 2]) == bootstrap_mean(scores, [-9, -9, 5, 5, 70])


def test_clusters_of_one_item_are_no_clusters() -> None:
    scores = [0.0, 0.25, 1.0]

    assert bootstrap_mean(scores, [5, 6, 7]) == bootstrap_mean(scores)


def test_a_single_cluster_does_not_pretend_to_be_certain() -> None:
    interval = bootstrap_mean([0.0, 1.0, 1.0, 0.0], [3, 3, 3, 3])

    assert interval == bootstrap_mean([0.0, 1.0, 1.0, 0.0])
    assert width(interval) > 0


@pytest.mark.parametrize("scores", [[0.7], [0.1] * 3, [0.3] * 1000, [1.0, 1.0]])
def test_equal_values_give_a_point(scores: list[float]) -> None:
    interval = bootstrap_mean(scores)

    assert ends(interval) == pytest.approx((scores[0], scores[0]))
    assert interval.value == pytest.approx(scores[0])


@given(SCORES, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_the_bootstrap_contains_the_mean_and_stays_among_the_values(
    scores: list[float], clusters: list[int]
) -> None:
    interval = bootstrap_mean(scores, clusters[: len(scores)])
    low, high = ends(interval)

    assert interval.value is not None
    assert min(scores) - 1e-9 <= low <= interval.value <= high <= max(scores) + 1e-9


def test_a_bootstrap_of_many_values_needs_little_memory() -> None:
    scores = [number / 3_000 for number in range(3_000)]
    tracemalloc.start()
    bootstrap_mean(scores)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # all resamples at once would take 10,000 x 3,000 numbers of 8 bytes: 240 MB
    assert peak < 120_000_000
