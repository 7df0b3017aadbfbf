"""List the runs of a project, and show one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from steelyard.results.runs import EVERY_RUN, Progress, RunDetail, RunPosition, RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.cursors import cursor_of, position_at, require_page, written


class Runs(Protocol):
    """The runs of a project."""

    def list(
        self, limit: int, query: RunQuery = EVERY_RUN, after: RunPosition | None = None
    ) -> Sequence[StoredRun]:
        """The runs of a query after a position, newest first."""
        ...

    def find(self, name: str) -> StoredRun:
        """A run by its id, a prefix of it or `latest`."""
        ...

    def states_of(self, run_ids: Sequence[str]) -> Mapping[str, Sequence[tuple[str, str]]]:
        """Every state of runs with its time, in order."""
        ...

    def progress(self, run_ids: Sequence[str]) -> Mapping[str, Progress]:
        """The number of stored rows of runs."""
        ...


class RunPage(NamedTuple):
    """A page of a list."""

    runs: Sequence[StoredRun]
    next_cursor: str | None
    """The cursor of the next page; None at the end."""


def list_runs(
    runs: Runs, query: RunQuery = EVERY_RUN, *, cursor: str | None = None, limit: int = 20
) -> RunPage:
    """A page of the runs of a query, newest first."""
    require_page(limit)
    query = written(query)
    after = None if cursor is None else position_at(cursor, query, RunPosition)
    found = runs.list(limit + 1, query, after)
    if len(found) <= limit:
        return RunPage(found, None)
    last = found[limit - 1]
    return RunPage(found[:limit], cursor_of(RunPosition(last.created_at, last.run_id), query))


def show_run(runs: Runs, name: str) -> RunDetail:
    """A run by its name, with its states and its progress."""
    return show_runs(runs, [runs.find(name)])[0]


def show_runs(runs: Runs, found: Sequence[StoredRun]) -> list[RunDetail]:
    """Runs with their states and their progress."""
    states = runs.states_of([run.run_id for run in found])
    summed = {run.run_id: one for run in found if (one := _summed(run))}
    # Of rows without a score, the summary of a run does not say which were cancelled.
    unknown = [run_id for run_id in states if run_id not in summed or summed[run_id].failed_rows]
    counted = {**summed, **runs.progress(unknown)}
    for run_id, one in summed.items():
        if counted[run_id].rows != one.rows:  # its rows were pruned
            counted[run_id] = one
    return [
        RunDetail(
            run=run,
            states=tuple(states[run.run_id]),
            total=run.plan.total_rows if run.plan else None,
            progress=counted[run.run_id],
        )
        for run in found
    ]


def _summed(run: StoredRun) -> Progress | None:
    """The rows of an ended run as its summary counts them; None where it has none."""
    rows, failed = ((run.summary or {}).get(name) for name in ("rows", "failure_rows"))
    return Progress(rows, failed) if isinstance(rows, int) and isinstance(failed, int) else None
