"""Of which records an answer shows the results."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.api.shown_results import shown_metrics, shown_rate
from steelyard.results.metrics import Interval, Metrics, kept_metrics


def interval(value: float | None, n: int) -> dict[str, Any]:
    return {"value": value, "low": None, "high": None, "method": "", "n": n}


def metrics(value: float | None, n: int, **more: Any) -> Metrics:
    counts = dict.fromkeys(("failed_records", "skipped_records", "unscored_count", "attempts"), 0)
    return kept_metrics(
        {
            **counts,
            **dict.fromkeys(("total_records", "valid_records", "evaluated_records"), n),
            "pass_count": (value or 0) * n,
            "fail_count": (1 - (value or 0)) * n,
            "pass_rate": interval(value, n),
            "score": interval(value, n),
            "checks": {},
            **more,
        }
    )


def asked(**counts: int) -> dict[str, Any]:
    """Answers of a judge to one question."""
    answered = sum(counts.values())
    row = {"check": "q", "type": "yes_no", "answered": answered, "unanswered": 0, "mean": None}
    return {"questions": {"correct": {**row, "counts": counts}}}


def check(kind: str, value: float) -> dict[str, Any]:
    row = {"kind": kind, "pass_rate": interval(value, 40), "mean_score": value}
    counted = dict.fromkeys(("skipped", "unscored"), 0)
    return {"checks": {"one": {**row, **counted}}}


@pytest.mark.parametrize(
    ("found", "is_telling"),
    [
        (metrics(0.5, 40), False),
        (metrics(0.5, 4), True),
        (metrics(0.4, 5), False),
        (metrics(1.0, 40), True),
        (metrics(0.0, 40), True),
        (metrics(None, 0), False),
        (metrics(0.5, 40, **asked(a=39, b=1)), False),
        (metrics(0.5, 40, **asked(a=40, b=0)), True),
        (metrics(0.5, 40, **asked(a=2, b=1)), True),
        (metrics(0.5, 40, **asked()), False),
        (metrics(0.5, 40, **asked(fine=80)), False),
        (metrics(0.5, 40, **check("llm_judge", 1.0)), True),
        (metrics(0.5, 40, **check("llm_judge", 0.9)), False),
        # what nobody is compared with
        (metrics(0.5, 40, **check("contains", 1.0)), False),
    ],
)
def test_metrics_show_single_records_where_these_are_few_or_alike(
    found: Metrics, is_telling: bool
) -> None:
    assert shown_metrics("run", found).indices == (None if is_telling else ())


@pytest.mark.parametrize(
    ("value", "n", "is_telling"),
    [(0.5, 4, True), (0.5, 5, False), (1.0, 50, True), (0.0, 50, True), (None, 0, False)],
)
def test_a_rate_alone_shows_them_as_well(value: float | None, n: int, is_telling: bool) -> None:
    rate = Interval(value=value, low=None, high=None, method="", n=n)

    assert shown_rate("run", rate).indices == (None if is_telling else ())
