"""What cells give to the CSV of their table."""

from __future__ import annotations

import json
from html import unescape
from typing import TYPE_CHECKING

import pytest

from steelyard.model.statistics.interval import Interval
from steelyard.reports.html.csv_cells import (
    csv_interval,
    csv_interval_names,
    csv_rate,
    csv_rate_names,
    csv_values,
)

if TYPE_CHECKING:
    from markupsafe import Markup

RATE = Interval(0.5, 0.1, 0.9, "wilson", 4)
NONE = Interval(None, None, None, "wilson", 0)


def values(attribute: Markup) -> list[object]:
    name, _, text = attribute.strip().partition("=")
    assert name == "data-values"
    return json.loads(unescape(text[1:-1]))


def test_any_text_stays_within_the_attribute() -> None:
    hostile = "\"><img src=x onerror=1> ' & \u2028"

    assert values(csv_values(hostile, 1, None)) == [hostile, 1, None]
    assert "<" not in csv_values(hostile)


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (csv_interval(RATE), csv_interval_names("Rate")),
        (csv_rate(RATE, 4), csv_rate_names("Rate")),
        (csv_rate(NONE, 0), csv_rate_names("Rate")),
    ],
)
def test_a_rate_has_as_many_values_as_its_heading_has_names(found: Markup, names: Markup) -> None:
    assert len(values(found)) == len(values(names))


def test_nothing_evaluated_is_empty_and_not_0() -> None:
    assert values(csv_interval(NONE)) == values(csv_interval(None)) == []
    assert values(csv_rate(None, None)) == [None, None, None, 0]
