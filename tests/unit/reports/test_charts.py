"""Charts as SVG."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from steelyard.reports.charts import difference_bar, histogram, interval_bar

HOSTILE = "<script>\"'&"


def numbers(svg: str, tag: str, name: str) -> list[float]:
    return [float(element.attrib[name]) for element in ET.fromstring(svg).iter(tag)]


@pytest.mark.parametrize(
    ("value", "low", "high", "ends"),
    [(0.5, 0.25, 0.75, (55.5, 164.5)), (0.0, 0.0, 0.0, (1.0, 1.0)), (1.0, 1.0, 1.0, (219, 219))],
)
def test_a_bar_has_whiskers_at_the_ends_of_its_interval(
    value: float, low: float, high: float, ends: tuple[float, float]
) -> None:
    svg = interval_bar(value, low, high, "pass rate")

    assert numbers(svg, "line", "x1")[1:] == pytest.approx(list(ends))
    assert max(numbers(svg, "rect", "width")) == 218


def test_a_bar_says_its_numbers_to_who_cannot_see_it() -> None:
    svg = ET.fromstring(interval_bar(0.5, 0.25, 0.75, "pass rate"))

    assert svg.attrib["aria-label"] == "pass rate: 0.500, from 0.250 to 0.750"


def test_a_bar_without_a_value_is_empty_and_says_so() -> None:
    svg = ET.fromstring(interval_bar(None, None, None, "pass rate"))

    assert list(svg) == []
    assert svg.attrib["aria-label"] == "pass rate: no value"


def test_a_bar_without_an_interval_has_no_whiskers_and_says_so() -> None:
    svg = ET.fromstring(interval_bar(0.5, None, None, "score"))

    assert len(list(svg)) == 2
    assert svg.attrib["aria-label"] == "score: 0.500, no interval"


def test_a_difference_of_nothing_has_no_sign() -> None:
    svg = ET.fromstring(difference_bar(-0.0, -0.25, 0.5, "pass rate"))

    assert svg.attrib["aria-label"] == "pass rate: 0.000, from -0.250 to +0.500"


def test_a_label_cannot_break_out_of_a_chart() -> None:
    for svg in (
        interval_bar(0.5, 0.25, 0.75, HOSTILE),
        interval_bar(None, None, None, HOSTILE),
        histogram([1], HOSTILE),
    ):
        label = ET.fromstring(svg).attrib["aria-label"]

        assert label.startswith(HOSTILE)
        assert "<script" not in svg


def test_a_histogram_has_a_bar_for_each_bin_in_proportion() -> None:
    svg = histogram([0, 5, 10], "scores")
    empty, half, full = numbers(svg, "rect", "height")

    assert (empty, half) == (0, full / 2)
    assert ET.fromstring(svg).attrib["aria-label"] == "scores: 0, 5, 10"


def test_a_histogram_of_nothing_is_flat() -> None:
    assert set(numbers(histogram([0] * 10, "scores"), "rect", "height")) == {0}


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "1"), (9999, "9999"), (12_345, "12k"), (999_999, "999k"), (2_345_678, "2M")],
)
def test_a_count_fits_over_its_bin(count: int, shown: str) -> None:
    texts = [element.text for element in ET.fromstring(histogram([count], "scores")).iter("text")]

    assert texts == [shown, "0", "1"]
