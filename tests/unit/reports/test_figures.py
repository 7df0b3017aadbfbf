"""Figures are SVG with positions in per cent and words for those who cannot see them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from steelyard.reports.figures import TrendMark, histogram_figure, trend_figure

HALF = (0.5, 0.4, 0.6)


def mark(value: float, change: str = "", *, has_corrected: bool = False) -> TrendMark:
    corrected = HALF if has_corrected else None
    return TrendMark((value, value - 0.1, value + 0.1), corrected, change, f"{value:.0%}")


def lines(svg: str, kind: str) -> list[dict[str, str]]:
    tree = ET.fromstring(svg)
    return [one.attrib for one in tree.iter("line") if one.get("class") == kind]


def test_a_line_joins_comparable_runs_alone() -> None:
    svg = str(
        trend_figure([mark(0.5), mark(0.7), mark(0.6, "rubric changed"), mark(0.8)], "Rates")
    )

    joined = [(one["x1"], one["x2"]) for one in lines(svg, "line")]
    assert joined == [("12.50%", "37.50%"), ("62.50%", "87.50%")]
    (change,) = lines(svg, "change")
    assert change["x1"] == "50.00%"
    assert "rubric changed" in svg


def test_every_point_has_its_whiskers_higher_rates_stand_higher() -> None:
    svg = str(trend_figure([mark(0.2), mark(0.9)], "Rates"))

    assert len(lines(svg, "stem")) == 2
    assert len(lines(svg, "cap")) == 4
    low, high = (
        float(found) for found in re.findall(r'<circle class="pt" cx="0" cy="([\d.]+)', svg)
    )
    assert high < low


def test_corrected_rates_are_a_series_of_their_own_beside_the_raw_ones() -> None:
    marks = [mark(0.5, has_corrected=True), mark(0.6), mark(0.7, has_corrected=True)]
    svg = str(trend_figure(marks, "Rates"))

    assert len(re.findall("<circle", svg)) == 5
    # Nothing joins two corrected rates over a run that has none.
    assert len(lines(svg, "line")) == 2


def test_what_is_said_is_escaped_and_no_style_attribute_is_used() -> None:
    svg = str(trend_figure([mark(0.5), mark(0.5, "<script>")], 'a "quoted" label'))

    assert "<script>" not in svg
    assert "style=" not in svg
    label = ET.fromstring(svg).get("aria-label")
    assert label == 'a "quoted" label: 50%; 50%'


def test_long_counts_of_a_histogram_are_rounded_to_four_characters() -> None:
    counts = [9_999, 10_499, 10_500, 32_868, 999_499, 999_500, 2_500_000]

    svg = ET.fromstring(str(histogram_figure(counts, "Records by score")))

    texts = [one.text for one in svg.findall("text")]
    assert texts[:-2] == ["9999", "10k", "11k", "33k", "999k", "1M", "3M"]
    assert svg.get("aria-label") == f"Records by score: {', '.join(map(str, counts))}"
