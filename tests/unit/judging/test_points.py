"""What criteria come to."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.judging.points import Points, Ruling, points_of

weights = st.integers(-10, 10).map(float)
rulings = st.lists(st.builds(Ruling, weights, st.sampled_from([True, False, None])), max_size=30)


def figures(*given: tuple[float, bool | None], **settings: Any) -> Points:
    return points_of([Ruling(*one) for one in given], **settings)


@pytest.mark.parametrize(
    ("given", "over_maximum", "min_max", "share"),
    [
        # the values that trust.md names
        ([(8, True), (-5, True)], Fraction(3, 8), Fraction(8, 13), 1),
        ([(2, True), (1, False)], Fraction(2, 3), Fraction(2, 3), Fraction(1, 2)),
        ([(8, True), (-5, False)], 1, 1, Fraction(1, 2)),
        # an answer that says nothing has no points, though min-max gives it some
        ([(8, False), (-5, False)], 0, Fraction(5, 13), 0),
        ([(2, False), (-5, True)], Fraction(-5, 2), 0, Fraction(1, 2)),
        ([(0, True), (1, False)], 0, 0, Fraction(1, 2)),
        ([(0.1, True)] * 3, 1, 1, 1),
    ],
)
def test_a_rubric_has_three_figures(
    given: Any, over_maximum: Fraction, min_max: Fraction, share: Fraction
) -> None:
    """LE-51"""
    found = figures(*given)

    assert found.points_over_maximum == pytest.approx(float(over_maximum))
    assert found.min_max == pytest.approx(float(min_max))
    assert found.share_met == pytest.approx(float(share))
    assert found.raw_score == found.points_over_maximum


@pytest.mark.parametrize("size", [1e308, 5e-324])
def test_weights_of_any_size_have_finite_figures(size: float) -> None:
    found = figures((size, True), (size, True), (size, False), (-size, False))

    assert found.points_over_maximum == pytest.approx(2 / 3)
    assert found.min_max == pytest.approx(3 / 4)
    assert found.points <= found.maximum < float("inf")
    assert figures((1, True), (-1e308, True), (-1e308, True)).raw_score == -1e30


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ([(2, False), (-5, True)], 0.0),
        ([(8, True), (-5, True)], 0.375),
        ([(1, True)], 1.0),
        ([(1, None)], None),
    ],
)
def test_the_score_is_the_raw_score_within_its_bounds(given: Any, score: float | None) -> None:
    assert figures(*given).score == score


def test_a_criterion_whose_judgement_failed_is_in_no_sum() -> None:
    """LE-52"""
    found = figures((3, True), (2, None), (-1, True))

    assert (found.points, found.maximum) == (2, 3)
    assert (found.met, found.scored, found.total) == (2, 2, 3)
    assert found.points_over_maximum == pytest.approx(2 / 3)
    assert found.min_max == pytest.approx(3 / 4)
    assert found.share_met == 1.0


@pytest.mark.parametrize(
    ("given", "raw"),
    [
        # nothing gives points: how much was lost
        ([(-5, False), (-5, False)], 1.0),
        ([(-5, True), (-15, False)], 0.75),
        ([(-5, None)], None),
        # nothing has any weight: how much is met
        ([(0, True), (0, False)], 0.5),
        ([(0, None)], None),
        # what would have given points was not judged
        ([(8, None), (-5, False)], None),
        ([(8, None), (0, True)], None),
        ([], None),
    ],
)
def test_a_rubric_without_points_is_scored_by_what_it_has(given: Any, raw: float | None) -> None:
    assert figures(*given).raw_score == raw


@pytest.mark.parametrize(
    ("given", "raw"),
    [
        ([(3, True), (1, False)], 0.5),
        ([(1, True), (1, True), (1, False)], 2 / 3),
        # what takes points away counts when it is absent
        ([(3, True), (-1, False)], 1.0),
        ([(3, True), (-1, True)], 0.5),
        ([(3, True), (3, None)], 1.0),
        ([(3, None)], None),
    ],
)
def test_where_the_share_counts_weights_do_not(given: Any, raw: float | None) -> None:
    assert figures(*given, aggregation="share_met").raw_score == raw


@given(rulings)
def test_figures_keep_their_bounds(given: list[Ruling]) -> None:
    found = points_of(given)

    assert found.met <= found.scored <= found.total == len(given)
    assert found.points_over_maximum is None or found.points_over_maximum <= 1
    assert found.min_max is None or 0 <= found.min_max <= 1
    assert found.score is None or 0 <= found.score <= 1
    if not found.scored:
        assert found.raw_score is None


@given(rulings)
def test_what_was_not_judged_changes_nothing_but_the_coverage(given: list[Ruling]) -> None:
    judged = [ruling for ruling in given if ruling.is_met is not None]
    found, alone = points_of(given), points_of(judged)

    assert (found.points, found.maximum, found.min_max) == (
        alone.points,
        alone.maximum,
        alone.min_max,
    )
    assert found.raw_score in {alone.raw_score, None}


@given(rulings)
def test_without_negative_weights_the_figures_agree(given: list[Ruling]) -> None:
    found = points_of([Ruling(abs(ruling.weight), ruling.is_met) for ruling in given])

    assert found.points_over_maximum == found.min_max
    assert found.share_met == found.share_right
