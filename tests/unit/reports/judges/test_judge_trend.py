"""TPR and TNR over time, drawn."""

from __future__ import annotations

from steelyard.model.statistics.interval import Interval
from steelyard.reports.judges.judge_trend import RatedTime, rates_over_time
from steelyard.stats.intervals import wilson

UNKNOWN = Interval(value=None, low=None, high=None, method="none", n=0)


def test_every_rate_has_a_point_and_its_interval_and_is_said_in_words() -> None:
    found = str(rates_over_time([RatedTime("2026-05-01", wilson(9, 10), wilson(4, 10))] * 2))

    assert found.count('<circle class="pt"') == 4
    assert found.count('<line class="stem"') == 12
    assert (
        "2026-05-01: TPR 90.0 % [59.6, 98.2] (9 of 10), TNR 40.0 % [16.8, 68.7] (4 of 10)" in found
    )


def test_a_rate_that_is_not_known_has_no_point() -> None:
    found = str(rates_over_time([RatedTime("<b>", UNKNOWN, wilson(4, 10))]))

    assert found.count('<circle class="pt"') == 1
    assert "&lt;b&gt;: TPR unknown" in found
    assert "<b>" not in found
