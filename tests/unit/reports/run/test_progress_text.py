"""What a run says of itself while it runs."""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.engine.activity import CallActivity
from steelyard.model.run import Result
from steelyard.model.verdict import Verdict
from steelyard.reports.run.progress_text import ProgressCounts, state_lines


def result(index: int = 0, cost: float | None = None, status: str = "evaluated") -> Result:
    verdict = Verdict(status="evaluated", passed=True, score=1.0)
    return Result(
        index=index,
        record_id=None,
        record_sha256=None,
        target="desk",
        repeat=0,
        status=status,  # pyright: ignore[reportArgumentType]
        verdict=verdict if status == "evaluated" else None,
        cost_usd=cost,
    )


def progress(results: int, total: int | None = 20, cost: float | None = None) -> ProgressCounts:
    """One result a second, from 0 on."""
    state = ProgressCounts(total, 0.0)
    for number in range(results):
        state.note(result(number, cost), number + 1.0)
    return state


def said(state: ProgressCounts, calls: CallActivity | None, now: float) -> str:
    return ", ".join(state_lines(state, calls, now))


def test_speed_and_time_left_are_said_once_there_are_results_enough() -> None:
    assert said(progress(4), None, 4.0) == "4 passed"
    assert said(progress(5), None, 5.0) == "5 passed, 1.0/s, 15 s left"
    assert said(progress(5, None), None, 5.0) == "5 passed, 1.0/s"


@pytest.mark.parametrize(
    ("total", "left"),
    [(69, "1 min 4 s"), (605, "10 min"), (3605, "1 h 0 min"), (9005, "2 h 30 min")],
)
def test_long_times_are_said_in_minutes_and_hours(total: int, left: str) -> None:
    assert said(progress(5, total), None, 5.0).endswith(f"{left} left")


def test_a_resumed_run_counts_what_it_has_and_is_as_fast_as_its_new_results() -> None:
    state = ProgressCounts(20, 0.0)
    state.keep(10, 2.0)
    before = said(state, None, 3.0)
    for number in range(5):
        state.note(result(number), number + 3.0)

    assert before == "10 kept, no new result yet"
    assert state.done == 15
    assert said(state, None, 7.0) == "10 kept, 5 passed, 1.0/s, 5 s left"


def test_cost_is_said_where_it_is_known() -> None:
    assert said(progress(1, cost=None), None, 1.0) == "1 passed"
    assert said(progress(2, cost=0.25), None, 2.0) == "2 passed, $0.50"
    assert said(progress(1, cost=0.0004), None, 1.0) == "1 passed, $0.0004"


def test_calls_in_flight_are_counted_and_the_longest_named_when_nothing_happens() -> None:
    calls = CallActivity(in_flight=3, oldest_s=31.0)

    assert said(progress(1), calls, 2.0) == "1 passed, 3 in flight"
    assert said(progress(1), calls, 30.0) == "1 passed, 3 in flight, the longest for 31 s"


def test_retries_have_their_reasons_and_the_time_of_the_next() -> None:
    retrying = Counter({"rate_limited": 2, "timeout": 1})
    calls = CallActivity(retrying=retrying, next_retry_s=4.4)

    assert said(progress(1), calls, 60.0) == (
        "1 passed, 3 to retry (2 rate_limited, 1 timeout, next in 4 s)"
    )


def test_a_target_that_is_away_and_a_wait_that_it_asks_for_are_named() -> None:
    calls = CallActivity(away=("live",), held_s=12.0)

    assert said(progress(1), calls, 60.0) == (
        "1 passed, live is away, waiting for it, the endpoint asks to wait 12 s"
    )


def test_a_run_that_waits_for_nothing_that_is_known_says_so() -> None:
    assert said(progress(1), CallActivity(), 61.0) == (
        "1 passed, no call in flight, no result for 1 min"
    )
