"""Runs: list them and show one."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.api.shown_results import shown_summaries
from steelyard.engine.states import is_terminal
from steelyard.model.run import RunState
from steelyard.project import Project
from steelyard.results.grading_summary import GradingSummary
from steelyard.results.manifest import StateTime
from steelyard.results.metrics import kept_metrics
from steelyard.results.runs import RunDetail, RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.gates import Gates, evaluate_gates
from steelyard.usecases.results.runs import list_runs, show_run, show_runs


class RunProgress(msgspec.Struct, frozen=True):
    """How far a run has come: a row is a record in one repeat."""

    total: int | None
    """Rows that the run has; null until its records are counted."""
    done: int
    """Rows with a result."""
    failed: int
    """Rows of them that failed: invalid, timed out, or without a score; none that was skipped or
    cancelled. `failed_records` of the summary counts the records whose rows have all failed."""
    retrying: int
    """Rows that have failed and wait for another attempt."""


class RunGate(msgspec.Struct, frozen=True):
    """A gate of a run: whether it passed, and why not."""

    name: str
    """What the gate is called, such as `fail_under`."""
    passed: bool
    reason: str
    """What it looked at, and what it found."""


class RunBody(msgspec.Struct, frozen=True):
    """A run as it stands."""

    run_id: str
    """`run_` and a ULID."""
    group_id: str | None
    """The runs that were started with it."""
    dataset_id: str
    """The id of its dataset."""
    dataset_version: str | None
    """The version of its dataset, or its hash."""
    status: str
    """Its state; a run whose process is gone keeps its last one."""
    cancelling: bool
    """Whether a cancellation was requested and the run has not ended."""
    waiting: bool
    """Whether it waits for a worker, be it new or resumed."""
    resumable: bool
    """Whether it was interrupted and can be resumed."""
    unresumable: str | None
    """Why a run that was stopped cannot be resumed."""
    states: list[StateTime]
    """Every state so far with its time, in order."""
    created_at: str
    """When it was accepted."""
    started_at: str | None
    """When its first record was begun."""
    completed_at: str | None
    """When it ended, whatever its end."""
    progress: RunProgress
    target: str | None
    """None where cases have several."""
    grading: GradingSummary | None
    """What grades its records; None of a run of an earlier version."""
    gates: list[RunGate]
    """What became of the gates of a finished run."""
    summary: dict[str, Any] | None
    """The content of `metrics_summary.json`; null before it ends."""
    derived_from: str | None
    """The run that it retries, regrades or is compared with."""
    pruned: list[str]
    """The names of its files that were removed after their retention."""


class RunsQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which runs to list."""

    status: RunState | None = None
    """Only runs in this state."""
    group_id: str | None = None
    """Only runs of this group."""
    dataset: str | None = None
    """Only runs of the dataset with this name."""
    target: str | None = None
    """Only runs of the target with this name."""
    q: str | None = None
    """A part of the id, of the name of the dataset or of that of the target; in either case."""


def run_body(project: Project, detail: RunDetail) -> RunBody:
    """A run as the API shows it."""
    run, times = detail.run, dict(reversed(detail.states))
    plan = run.plan
    setup = plan.setup if plan and plan.setup else None
    derived = plan.options.derived if plan else None
    standing = project.standing(run)
    return RunBody(
        run_id=run.run_id,
        group_id=run.group_id,
        dataset_id=setup.dataset_id if setup else run.dataset,
        dataset_version=setup.dataset_version if setup else None,
        status=run.status,
        cancelling=standing.is_cancelling,
        waiting=standing.is_waiting,
        resumable=standing.is_resumable,
        unresumable=standing.why_not_resumable,
        states=[StateTime(state=state, at=at) for state, at in detail.states],
        created_at=run.created_at,
        started_at=times.get("running"),
        completed_at=detail.states[-1][1] if is_terminal(run.status) and times else None,
        progress=RunProgress(
            total=detail.total,
            done=detail.progress.rows,
            failed=detail.progress.failed_rows,
            retrying=detail.progress.retrying_rows,
        ),
        target=run.target,
        grading=(plan.graders or None) if plan else None,
        gates=_gates(run),
        summary=run.summary,
        derived_from=derived.run_id if derived else None,
        pruned=project.pruned_names(run.run_id),
    )


def _gates(run: StoredRun) -> list[RunGate]:
    if run.plan is None or not run.summary:
        return []
    found = evaluate_gates(kept_metrics(run.summary), Gates.of(run.plan.options.gates))
    return [RunGate(one.name, one.passed, one.reason) for one in found]


def _list(call: Call[RunsQuery, None]) -> JsonReply:
    asked = call.query
    query = RunQuery(
        status=asked.status,
        group_id=asked.group_id,
        dataset=asked.dataset,
        target=asked.target,
        text=asked.q,
    )
    store = call.project.store
    page = list_runs(store, query, cursor=asked.cursor, limit=asked.limit)
    bodies = [run_body(call.project, detail) for detail in show_runs(store, page.runs)]
    return JsonReply(body=Page(bodies, page.next_cursor), shown=shown_summaries(page.runs))


def _show(call: Call[NoQuery, None]) -> JsonReply:
    detail = show_run(call.project.store, call.path["run_id"])
    return JsonReply(body=run_body(call.project, detail), shown=shown_summaries([detail.run]))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/runs",
        summary="List runs, newest first.",
        scope="runs:read",
        handle=_list,
        query=RunsQuery,
        answers={200: Page[RunBody]},
        is_kept=True,
    ),
    Operation(
        method="GET",
        path="/v1/runs/{run_id}",
        summary="Show a run.",
        scope="runs:read",
        handle=_show,
        answers={200: RunBody},
        errors=(404,),
        is_quick=True,
        is_kept=True,
    ),
)
