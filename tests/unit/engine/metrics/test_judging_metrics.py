"""What judging took is added up apart from what targets took, with its denominators."""

from __future__ import annotations

from typing import Any, cast

from msgspec import structs

from fakes.metrics import metrics
from steelyard.engine.metrics.judging_metrics import with_probes
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.model.run import Judging
from steelyard.results.manifest import ProbeCall
from strategies.run_facts import facts


def summary(*judged: Judging | None) -> dict[str, Any] | None:
    rows = [facts(place, passed=True, judging=one) for place, one in enumerate(judged)]
    return cast("dict[str, Any] | None", metrics_of(rows)[0].json()["judging"])


def test_where_nobody_was_judged_there_are_no_figures() -> None:
    assert summary() is None
    assert summary(None, None) is None


def test_figures_come_with_the_number_of_rows_they_are_from() -> None:
    found = summary(
        Judging(calls=2, attempts=3, input_tokens=10, output_tokens=4, cost_usd=0.5),
        None,
        Judging(calls=1, unanswered=1, attempts=3),
        Judging(calls=1, attempts=1, output_tokens=1, cached=2, saved_usd=0.25),
    )

    assert found == {
        "rows": 3,
        "calls": 4,
        "unanswered": 1,
        "attempts": 7,
        "tokens": {"input": 10, "output": 5, "total": 15, "n": 2},
        "cost_usd": {"total": 0.5, "n": 1},
        "cache": {"hits": 2, "saved_usd": 0.25},
    }


def test_what_nobody_counted_is_unknown_and_not_nought() -> None:
    found = summary(Judging(calls=1, attempts=1))

    assert found is not None
    assert found["tokens"] == {"input": None, "output": None, "total": None, "n": 0}
    assert found["cost_usd"] == {"total": None, "n": 0}
    assert found["cache"] == {"hits": 0, "saved_usd": None}


def test_probes_are_told_apart_and_paid_like_judges() -> None:
    probe = ProbeCall(
        target="judge", enforced=True, attempts=1, input_tokens=9, output_tokens=2, cost_usd=0.25
    )
    unknown = structs.replace(
        probe, attempts=3, input_tokens=None, output_tokens=None, cost_usd=None
    )
    found = with_probes(metrics(), [probe, unknown]).json()

    assert found["probes"] == {
        "calls": 2,
        "attempts": 4,
        "tokens": {"input": 9, "output": 2},
        "cost_usd": 0.25,
    }
    assert found["cost_usd"] == {"total": 0.25, "judging": 0.25, "n": 0}


def test_a_run_without_probes_says_nothing_of_them() -> None:
    assert with_probes(metrics(), []).json()["probes"] is None
