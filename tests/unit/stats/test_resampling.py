"""Intervals by random weights: seeded, within bounded memory, and wider for groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.model.statistics.interval import Interval
from steelyard.stats import resampling
from steelyard.stats.agreement import Ratings, Weighting, weights_of
from steelyard.stats.agreement_intervals import ac_interval, alpha_interval, fleiss_interval
from steelyard.stats.resampling import Assumed, Floats, Items, over_items, rating_patterns
from strategies.plain_agreement import fleiss_kappa, gwet_ac, krippendorff_alpha, rated

NO = None
EXAMPLE = rated(
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
    nothing = Assumed(np.zeros((1, 0), dtype=np.int64), np.zeros(0))
    return Items.of(np.arange(size).reshape(1, size), nothing, groups)


def width(found: Interval) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def alpha(ratings: Ratings) -> Interval:
    return alpha_interval(ratings, "nominal")


def mean(times: Floats) -> Floats:
    return times @ VALUES / times.sum(axis=1)


def test_a_mean_has_the_interval_of_the_bootstrap() -> None:
    found = over_items(mean, items(), "mean")
    drawn = np.random.default_rng(1).choice(VALUES, size=(4000, len(VALUES))).mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert found.value == pytest.approx(VALUES.mean())
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.03)
    assert (found.method, found.n) == ("mean, Bayesian bootstrap", 80)


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
        (None, "mean, Bayesian bootstrap"),
        ([*range(80)], "mean, Bayesian bootstrap"),
        ([place // 2 for place in range(80)], "mean, Bayesian cluster bootstrap"),
    ],
)
def test_groups_count_where_they_say_something(groups: list[int] | None, method: str) -> None:
    assert over_items(mean, items(groups=groups), "mean").method == method


def test_nothing_has_no_value_and_few_items_or_groups_no_interval() -> None:
    assert over_items(mean, items(0), "mean").value is None
    few = items(80, [place % 9 for place in range(80)])
    assert over_items(mean, few, "mean").low is None
    assert over_items(mean, items(80, [place % 10 for place in range(80)]), "mean").low is not None
    assert over_items(mean, items(), "mean", is_enough=False).low is None


def test_wider_tails_make_a_wider_interval() -> None:
    usual, wide = (over_items(mean, items(), "mean", tails=(t, 1 - t)) for t in (0.025, 0.005))

    assert width(wide) == pytest.approx(width(usual) * 2.576 / 1.96, rel=0.08)


@pytest.mark.parametrize(("rare", "has_interval"), [(0, False), (1, False), (2, True)])
def test_kappa_has_an_interval_from_two_items_with_another_answer_on(
    rare: int, has_interval: bool
) -> None:
    codes = np.array([[0] * rare + [1] * (40 - rare)] * 2)
    ratings = Ratings(codes, np.arange(2.0))
    for found in (alpha_interval(ratings, "nominal"), fleiss_interval(ratings)):
        assert (found.value is None) == (rare == 0)
        assert (found.low is not None) == has_interval
    assert width(ac_interval(ratings)) > 0
    together = alpha_interval(ratings, "nominal", [0, 0, *range(1, 39)])
    assert together.low is None


def test_perfect_agreement_has_an_interval_that_says_how_little_was_seen() -> None:
    few, many = (
        alpha_interval(Ratings(np.array([[0, 0] + [1] * n] * 2), np.arange(2.0)), "nominal")
        for n in (28, 198)
    )

    assert few.low is not None
    assert many.low is not None
    assert few.high == many.high == 1
    assert few.low < 0.5
    assert many.low < 0.6


@pytest.mark.parametrize("weighting", [None, "ordinal", "linear", "quadratic"])
def test_coefficients_are_the_same_with_their_intervals(
    weighting: Weighting | None,
) -> None:
    weights = weights_of(EXAMPLE.values, weighting) if weighting else None
    for found, expected in (
        (ac_interval(EXAMPLE, weights), gwet_ac(EXAMPLE, weights)),
        (fleiss_interval(EXAMPLE, weights), fleiss_kappa(EXAMPLE, weights)),
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
        (ac_interval, gwet_ac),
        (fleiss_interval, fleiss_kappa),
        (alpha, krippendorff_alpha),
    ):
        assert one_pass(drawn).value == pytest.approx(plain(drawn), abs=1e-12)


def test_what_cannot_disagree_has_no_coefficient() -> None:
    same = rated([[1, 1], [1, 1]])
    assert ac_interval(same).value is None
    assert math.isnan(gwet_ac(same))
    assert fleiss_interval(same).value is None
    offered = Ratings(same.codes, np.arange(2.0))
    assert ac_interval(offered).value == 1
    nobody = rated([[1, NO], [NO, 2]])
    assert ac_interval(nobody).value is None


def test_groups_of_items_widen_an_agreement() -> None:
    copied = Ratings(np.tile(EXAMPLE.codes, 6), EXAMPLE.values)
    groups = [*range(12)] * 6
    for apart, together, single in (
        (ac_interval(copied), ac_interval(copied, groups=groups), ac_interval(EXAMPLE)),
        (
            alpha_interval(copied, "nominal"),
            alpha_interval(copied, "nominal", groups),
            alpha_interval(EXAMPLE, "nominal"),
        ),
    ):
        assert together.method.endswith("Bayesian cluster bootstrap")
        assert width(together) == pytest.approx(width(single), abs=0.15)
        assert width(apart) < width(together)


def test_items_that_are_alike_share_a_column() -> None:
    codes = np.array([[0, 1, 1, 0], [0, 1, 1, 1]])
    patterns = rating_patterns(codes, 2)
    alike, grouped = Items.of(codes, patterns), Items.of(codes, patterns, [0, 0, 1, 1])
    assert alike.times.tolist() == [1, 1, 2, 0, 0, 0, 0]
    assert grouped.groups is not None
    assert grouped.groups.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert (alike.size, alike.independent, grouped.size, grouped.independent) == (4, 4, 4, 2)


def test_each_cell_of_two_raters_and_two_answers_gets_about_half_an_item() -> None:
    found = rating_patterns(np.array([[0, 1], [1, 1]]), 2)

    assert found.codes.T.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert found.mass.tolist() == [0.75, 0.4, 0.4, 0.75]


def test_a_pattern_that_is_assumed_has_as_many_ratings_as_items_usually_have() -> None:
    codes = np.array([[0, 1, -1], [1, -1, 0], [-1, -1, 1], [-1, 0, -1]])

    assert (rating_patterns(codes, 2).codes >= 0).sum(axis=0).tolist() == [2] * 4


def test_of_a_long_scale_ten_steps_stand_for_all() -> None:
    found = rating_patterns(np.array([[0, 100], [50, 100]]), 101)

    assert found.codes.shape == (2, 100)
    assert (found.codes.min(), found.codes.max()) == (0, 100)
    assert found.mass.sum() == pytest.approx(2.3)
