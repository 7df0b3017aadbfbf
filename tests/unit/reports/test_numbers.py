"""Numbers as people read them."""

from __future__ import annotations

import pytest

from steelyard.model.statistics.interval import Interval
from steelyard.reports.numbers import (
    count,
    dollars,
    mean_text,
    milliseconds,
    percent,
    rate_text,
    signed,
    signed_points,
)
from steelyard.stats.intervals import wilson


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.9, "90.0 %"), (0, "0.0 %"), (1, "100.0 %"), (0.0004, "0.0 %"), (None, "–")],
)
def test_a_share_is_a_percentage(value: float | None, text: str) -> None:
    assert percent(value) == text


def test_a_rate_shows_its_interval() -> None:
    assert rate_text(wilson(180, 200)) == "90.0 % [85.1, 93.4]"


def test_a_mean_shows_its_interval() -> None:
    assert mean_text(Interval(0.5, 0.25, 0.75, "bootstrap", 9)) == "0.500 [0.250, 0.750]"


def test_an_estimate_without_an_interval_says_why() -> None:
    alone = Interval(0.5, None, None, "t", 1)
    clustered = Interval(0.5, None, None, "t", 40, clusters=2)

    assert rate_text(alone) == "50.0 % (no interval: too few values differ, n = 1)"
    assert mean_text(clustered) == "0.500 (no interval: too few values differ, n = 2)"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0244, "+2.4"),
        (-0.1, "-10.0"),
        (0.0, "0.0"),
        (-0.0, "0.0"),
        (-0.0004, "0.0"),
        (1, "+100.0"),
    ],
)
def test_points_have_a_sign_unless_they_are_zero(share: float, text: str) -> None:
    assert signed_points(share) == text


def test_a_zero_has_no_sign() -> None:
    assert (signed(-0.0001), signed(0.25), signed(-0.25, 2)) == ("0.000", "+0.250", "-0.25")
    assert mean_text(Interval(-0.0, -0.0001, 0.2, "t", 9)) == "0.000 [0.000, 0.200]"


def test_what_rests_on_nothing_says_so() -> None:
    assert rate_text(wilson(0, 0)) == "– (nothing evaluated)"
    assert mean_text(wilson(0, 0)) == "– (nothing evaluated)"


@pytest.mark.parametrize(
    ("value", "text"), [(1234.5, "1,234 ms"), (0.4, "0 ms"), (0, "0 ms"), (None, "–")]
)
def test_a_latency_is_in_milliseconds(value: float | None, text: str) -> None:
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234.5, "$1,234.50"),
        (1, "$1.00"),
        (0.5, "$0.5000"),
        (0.01234, "$0.0123"),
        (0.000123, "$0.00012"),
        (0.0000009, "$0.00000090"),
        (0.0, "$0.00"),
        (None, "–"),
    ],
)
def test_a_small_cost_keeps_its_digits(value: float | None, text: str) -> None:
    assert dollars(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234, "1,234"),
        (1_000_000, "1,000,000"),
        (123_456_789, "123,456,789"),
        (1.5, "1.50"),
        (12345.0 + 1 / 3, "12,345.33"),
        (None, "–"),
    ],
)
def test_a_count_shows_every_digit(value: float | None, text: str) -> None:
    assert count(value) == text
