"""Passes and scores of the same cases, graded twice."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.paired import mcnemar, paired_difference, tango

stats: Any = import_module("scipy.stats")
optimize: Any = import_module("scipy.optimize")
contingency_tables: Any = import_module("statsmodels.stats.contingency_tables")
COUNTS = st.integers(min_value=0, max_value=300)


@pytest.mark.parametrize(
    ("gained", "lost", "p_value"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (3, 3, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (0, 6, 0.03125),
        (1, 9, 0.021484375),
    ],
)
def test_the_p_value_is_that_of_a_sign_test_on_the_pairs_that_differ(
    gained: int, lost: int, p_value: float
) -> None:
    assert mcnemar(gained, lost) == pytest.approx(p_value, rel=1e-12)


@given(COUNTS, COUNTS)
def test_the_p_value_is_that_of_scipy(gained: int, lost: int) -> None:
    n = gained + lost
    expected = stats.binomtest(gained, n, 0.5).pvalue if n else 1.0

    assert mcnemar(gained, lost) == pytest.approx(expected, rel=1e-9)


def test_the_p_value_is_that_of_statsmodels() -> None:
    table = [[40, 3], [14, 43]]

    assert mcnemar(3, 14) == pytest.approx(contingency_tables.mcnemar(table, exact=True).pvalue)


def score_statistic(gained: int, lost: int, n: int, difference: float) -> float:
    """The score test of a paired difference, its nuisance share found by brute force."""

    def unlikely(share: float) -> float:
        up, same = share + difference, 1 - 2 * share - difference
        return -(
            gained * np.log(max(up, 1e-300))
            + lost * np.log(max(share, 1e-300))
            + (n - gained - lost) * np.log(max(same, 1e-300))
        )

    bounds = (max(0.0, -difference), (1 - difference) / 2)
    share = optimize.minimize_scalar(
        unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}
    ).x
    variance = n * (2 * share + difference * (1 - difference))
    return float((gained - lost - n * difference) / np.sqrt(variance))


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(9, 2, 44), (12, 5, 60), (0, 7, 30), (3, 3, 20)]
)
def test_the_score_test_just_accepts_the_ends_of_tangos_interval(
    gained: int, lost: int, n: int
) -> None:
    found = tango(gained, lost, n)
    assert found.low is not None
    assert found.high is not None

    assert score_statistic(gained, lost, n, found.low) == pytest.approx(1.96, abs=1e-3)
    assert score_statistic(gained, lost, n, found.high) == pytest.approx(-1.96, abs=1e-3)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=40))
def test_turned_differences_have_the_mirror_image_of_the_interval(values: list[float]) -> None:
    for clusters in (None, [place // 3 for place in range(len(values))]):
        there = paired_difference(values, clusters)
        back = paired_difference([-value for value in values], clusters)

        assert back.interval == there.interval.mirrored
        assert back.p_value == there.p_value


def test_where_no_pair_differs_the_interval_has_its_closed_form() -> None:
    found = tango(0, 0, 44)
    half = 1.959964**2 / (44 + 1.959964**2)

    assert (found.low, found.high) == pytest.approx((-half, half), abs=1e-6)


PASSES = st.lists(st.sampled_from((-1.0, 0.0, 1.0)), min_size=1, max_size=60)
SHARES = st.lists(
    st.sampled_from((-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 1.0)), min_size=1, max_size=30
)


@given(PASSES | SHARES, st.booleans())
def test_interval_and_test_always_agree(differences: list[float], in_clusters: bool) -> None:
    clusters = [place // 3 for place in range(len(differences))] if in_clusters else None
    found = paired_difference(differences, clusters)
    low, value, high = found.interval.low, found.interval.value, found.interval.high
    assert low is not None
    assert value is not None
    assert high is not None
    assert found.p_value is not None

    assert -1 <= low <= value <= high <= 1
    assert low < high
    assert (low <= 0 <= high) is (found.p_value > 0.05)
    assert found.direction == (0 if low <= 0 <= high else np.sign(value))


@pytest.mark.parametrize(
    ("differences", "low", "high"),
    [([-1.0], -1.0, 0.587), ([0.0] * 3, -0.561, 0.561), ([1.0] * 5 + [0.0] * 15, 0.0, 0.469)],
)
def test_no_interval_has_width_zero(differences: list[float], low: float, high: float) -> None:
    found = paired_difference(differences).interval

    assert (found.low, found.high) == (pytest.approx(low, abs=1e-3), pytest.approx(high, abs=1e-3))


def test_what_moves_together_counts_once() -> None:
    differences = [1.0] * 6 + [0.0] * 24
    alone = paired_difference(differences)
    together = paired_difference(differences, [place // 6 for place in range(30)])

    assert (alone.direction, together.direction) == (1, 0)
    assert (together.test, together.interval.clusters) == ("cluster permutation test", 5)
    assert together.interval.n_effective == pytest.approx(4)


def test_a_stricter_quantile_widens_the_interval_and_the_verdict() -> None:
    differences = [1.0] * 9 + [-1.0] + [0.0] * 90
    plain = paired_difference(differences)
    strict = paired_difference(differences, critical=3.0)
    repeats = [1 / 3] * 12 + [0.0] * 40

    assert plain.interval.low is not None
    assert strict.interval.low is not None
    assert plain.interval.low > 0 >= strict.interval.low
    assert paired_difference(repeats).interval != paired_difference(repeats, critical=3.0).interval


def test_without_a_pair_there_is_no_difference() -> None:
    found = paired_difference([])

    assert (found.interval.value, found.p_value, found.direction) == (None, None, 0)


def coverage(chance: np.random.Generator, rates: tuple[float, float], n: int) -> float:
    truth, held = rates[1] - rates[0], 0
    for _ in range(400):
        a, b = (chance.random(n) < rate for rate in rates)
        found = paired_difference(b.astype(float) - a).interval
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    return held / 400


@pytest.mark.parametrize("rates", [(0.6, 0.8), (0.95, 0.99), (0.97, 0.995)])
@pytest.mark.parametrize(
    "n", [20, *(pytest.param(n, marks=pytest.mark.trials) for n in (50, 200))]
)
def test_intervals_hold_the_true_difference(rates: tuple[float, float], n: int) -> None:
    assert coverage(np.random.default_rng(n), rates, n) >= 0.92
