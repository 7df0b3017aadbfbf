"""How far a run has come: a rate only where it says something, and never an invented end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from fakes.plans import plan
from fakes.runs import stored_run
from steelyard.results.runs import Progress, RunDetail
from steelyard.usecases.runs.run_progress import progress_of

BEGAN = datetime.fromisoformat("2026-01-15T12:00:00+00:00")


def detail(rows: int, *states: str, total: int | None = 100) -> RunDetail:
    run = replace(stored_run(status="running"), plan=plan())
    times = tuple((state, BEGAN.isoformat()) for state in states or ("queued", "running"))
    progress = Progress(rows, 2, 1)
    return RunDetail(run=run, states=times, total=total, progress=progress)


def test_the_rest_takes_as_long_as_what_is_done() -> None:
    found = progress_of(detail(40), BEGAN + timedelta(seconds=20), is_held=True)

    assert (found.done, found.total, found.failed, found.retrying) == (40, 100, 2, 1)
    assert (found.rate, found.left_s) == (2.0, 30.0)


@pytest.mark.parametrize(
    ("found", "seconds", "is_held"),
    [
        (detail(19), 20, True),
        (detail(40), 4, True),
        (detail(40), 20, False),
        (detail(40, "queued", "running", "queued", "running"), 20, True),
        (detail(40, "queued", "running", "finalizing"), 20, True),
    ],
)
def test_no_rate_where_it_says_nothing(found: RunDetail, seconds: int, is_held: bool) -> None:
    progress = progress_of(found, BEGAN + timedelta(seconds=seconds), is_held=is_held)

    assert (progress.rate, progress.left_s) == (None, None)


def test_without_a_total_there_is_no_end() -> None:
    more: Any = progress_of(detail(40, total=None), BEGAN + timedelta(seconds=20), is_held=True)

    assert (more.rate, more.left_s) == (2.0, None)
