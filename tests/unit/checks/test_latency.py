"""`latency`."""

from __future__ import annotations

import pytest

from steelyard.checks.latency import Latency
from steelyard.model.case import Case
from strategies.traces import said


@pytest.mark.parametrize(
    ("latency_ms", "passed", "reason"),
    [
        (1199.0, True, "1,199 ms, within 1,200 ms"),
        (1200.0, True, "1,200 ms, within 1,200 ms"),
        (1201.0, False, "1,201 ms, over 1,200 ms"),
        (0.0, True, "0 ms, within 1,200 ms"),
    ],
)
def test_the_response_must_arrive_within_the_limit(
    latency_ms: float, passed: bool, reason: str
) -> None:
    outcome = Latency(max_ms=1200).check(said("", latency_ms), Case(id="a"))

    assert (outcome.passed, outcome.reason) == (passed, reason)


@pytest.mark.parametrize(("max_ms", "passed"), [(None, False), (500, True)])
def test_the_limit_of_the_case_counts_where_the_check_has_none(
    max_ms: float | None, passed: bool
) -> None:
    """CR-08"""
    case = Case(id="a", expected={"max_latency_ms": 300})

    assert Latency(max_ms=max_ms).check(said("", 400), case).passed is passed


@pytest.mark.parametrize(
    ("check", "latency_ms", "reason"),
    [
        (Latency(), 400, "neither the check nor the case states a limit"),
        (Latency(max_ms=300), None, "the trace has no latency"),
    ],
)
def test_without_limit_or_time_it_is_skipped(
    check: Latency, latency_ms: float | None, reason: str
) -> None:
    """CR-08"""
    outcome = check.check(said("", latency_ms), Case(id="a"))

    assert (outcome.status, outcome.passed, outcome.reason) == ("skipped", None, reason)
