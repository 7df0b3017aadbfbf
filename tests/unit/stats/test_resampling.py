"""Resampled intervals: seeded, within bounded memory, and honest about groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.stats import resampling
from steelyard.stats.agreement import (
    Ratings,
    Weighting,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    resampled_ac,
    resampled_alpha,
    resampled_fleiss,
    weights_of,
)
from steelyard.stats.bootstrap import bootstrap_mean
from steelyard.stats.intervals import Interval
from steelyard.stats.resampling import Floats, Items, over_items

NO = None
EXAMPLE = Ratings.of_numbers(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
        [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
    ]
)
VALUES = np.random.default_rng(1).normal(size=80)


def items(size: int = 80, groups: list[int] | None = None) -> Items:
    """Items that are all different."""
    return Items.of(np.arange(size).reshape(1, size), groups)


def width(found: Interval) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def alpha(ratings: Ratings) -> Interval:
    return resampled_alpha(ratings, "nominal")


def mean(times: Floats) -> Floats:
    return times @ VALUES / times.sum(axis=1)


def test_a_mean_has_the_interval_of_the_bootstrap() -> None:
    found = over_items(mean, items(), "mean")
    other = bootstrap_mean(VALUES.tolist())
    assert found.value == pytest.approx(other.value)
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.03)
    assert (found.method, found.n) == ("mean, bootstrap", 80)


def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = over_items(mean, items(), "mean")
    monkeypatch.setattr(resampling, "_AT_ONCE", 80 * 7)
    found = over_items(mean, items(), "mean")
    assert (found.low, found.high) == pytest.approx((whole.low, whole.high), abs=1e-12)
    assert over_items(mean, items(), "mean", width=80 * 3).low == pytest.approx(
        found.low, abs=1e-12
    )


@pytest.mark.parametrize(
    ("groups", "method"),
    [
        (None, "mean, bootstrap"),
        ([*range(80)], "mean, bootstrap"),
        ([3] * 80, "mean, bootstrap"),
        ([place // 2 for place in range(80)], "mean, cluster bootstrap"),
    ],
)
def test_groups_count_where_they_say_something(groups: list[int] | None, method: str) -> None:
    assert over_items(mean, items(groups=groups), "mean").method == method


def test_nothing_has_no_value_and_what_is_undefined_in_all_resamples_no_interval() -> None:
    def once(times: Floats) -> Floats:
        return np.where((times == 1).all(axis=1), 1.0, np.nan)

    assert over_items(once, items(0), "once").value is None
    found = over_items(once, items(40), "once", n=4)
    assert (found.value, found.low, found.high, found.n) == (1.0, None, None, 4)


@pytest.mark.parametrize("weighting", [None, "ordinal", "linear", "quadratic"])
def test_coefficients_are_the_same_with_their_intervals(
    weighting: Weighting | None,
) -> None:
    weights = weights_of(EXAMPLE.values, weighting) if weighting else None
    for found, expected in (
        (resampled_ac(EXAMPLE, weights), gwet_ac(EXAMPLE, weights)),
        (resampled_fleiss(EXAMPLE, weights), fleiss_kappa(EXAMPLE, weights)),
    ):
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert width(found) > 0
        assert found.n == EXAMPLE.pairs == 11


def test_every_resample_is_the_coefficient_of_the_items_drawn() -> None:
    """The one-pass forms against the plain ones, on one resample written out."""
    chance = np.random.default_rng(2)
    rows = chance.integers(0, 3, (3, 30))
    rows[chance.random((3, 30)) < 0.3] = -1
    ratings = Ratings(rows, np.arange(3.0))
    drawn = Ratings(rows[:, chance.integers(0, 30, 30)], ratings.values)
    for one_pass, plain in (
        (resampled_ac, gwet_ac),
        (resampled_fleiss, fleiss_kappa),
        (alpha, krippendorff_alpha),
    ):
        assert one_pass(drawn).value == pytest.approx(plain(drawn), abs=1e-12)


def test_what_cannot_disagree_has_no_coefficient() -> None:
    same = Ratings.of_numbers([[1, 1], [1, 1]])
    assert resampled_ac(same).value is None or math.isnan(gwet_ac(same))
    assert resampled_fleiss(same).value is None
    offered = Ratings(same.codes, np.arange(2.0))
    assert resampled_ac(offered).value == 1
    nobody = Ratings.of_numbers([[1, NO], [NO, 2]])
    assert resampled_ac(nobody).value is None


def test_groups_of_items_widen_an_agreement() -> None:
    copied = Ratings(np.tile(EXAMPLE.codes, 6), EXAMPLE.values)
    groups = [*range(12)] * 6
    for apart, together, single in (
        (resampled_ac(copied), resampled_ac(copied, groups=groups), resampled_ac(EXAMPLE)),
        (
            resampled_alpha(copied, "nominal"),
            resampled_alpha(copied, "nominal", groups),
            resampled_alpha(EXAMPLE, "nominal"),
        ),
    ):
        assert together.method.endswith("cluster bootstrap")
        assert width(together) == pytest.approx(width(single), abs=0.05)
        assert width(apart) < width(together)


def test_items_that_are_alike_need_not_be_told_apart() -> None:
    alike = Items.of(np.array([[0, 1, 1, 0], [0, 1, 1, 1]]))
    apart = Items.of(np.array([[0, 1, 1, 0], [0, 1, 1, 1]]), [0, 0, 1, 1])
    assert (alike.codes.shape, alike.times.tolist(), alike.size) == ((2, 3), [1, 1, 2], 4)
    assert (apart.codes.shape, apart.times.tolist(), apart.size) == ((2, 4), [1, 1, 1, 1], 4)
