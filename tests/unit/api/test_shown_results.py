"""Which records an answer says something about."""

from __future__ import annotations

import pytest

from steelyard.api.shown_results import shown_slices
from steelyard.model.statistics.interval import Interval
from steelyard.results.metrics import CheckMetrics, Slice


def part(passed: float | None, n: int, check: float | None = 0.5) -> Slice:
    rate = Interval(passed, None, None, "wilson", n)
    of_check = Interval(check, None, None, "wilson", n)
    return Slice(
        slice="tags",
        value="a",
        total_records=n,
        valid_records=n,
        evaluated_records=n,
        failed_records=0,
        skipped_records=0,
        pass_count=0,
        fail_count=0,
        unscored_count=0,
        pass_rate=rate,
        score=rate,
        checks={
            "c": CheckMetrics(kind="k", pass_rate=of_check, mean_score=None, skipped=0, unscored=0)
        },
        attempts=n,
    )


@pytest.mark.parametrize(
    ("slices", "indices"),
    [
        ([part(0.5, 20), part(0.9, 10)], ()),
        ([], ()),
        ([part(None, 0, None)], ()),
        ([part(0.5, 20), part(0.5, 4)], None),
        ([part(1.0, 20)], None),
        ([part(0.0, 20)], None),
        ([part(0.5, 20, 1.0)], None),
    ],
)
def test_slices_show_records_where_they_are_small_or_of_one_verdict(
    slices: list[Slice], indices: tuple[int, ...] | None
) -> None:
    assert shown_slices("run_1", slices).indices == indices
