"""Runs: list them and show one."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.engine.states import is_terminal
from steelyard.model.run import RunState
from steelyard.project import Project
from steelyard.results.manifest import StateTime
from steelyard.results.metrics import kept_metrics
from steelyard.results.runs import RunDetail, RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.gates import Gates, evaluate_gates
from steelyard.usecases.results.runs import list_runs, show_run, show_runs
from steelyard.usecases.runs.ownership import is_resumable


class RunProgress(msgspec.Struct, frozen=True):
    """How far a run has come: a row is a record in one repeat."""

    total: int | None
    done: int
    failed: int
    retrying: int


class RunGate(msgspec.Struct, frozen=True):
    """A gate of a run: whether it passed, and why not."""

    name: str
    passed: bool
    reason: str


class RunBody(msgspec.Struct, frozen=True):
    """A run as it stands."""

    run_id: str
    group_id: str | None
    dataset_id: str
    dataset_version: str | None
    status: str
    resumable: bool
    states: list[StateTime]
    created_at: str
    started_at: str | None
    completed_at: str | None
    progress: RunProgress
    target: str | None
    """None where cases have several."""
    gates: list[RunGate]
    """What became of the gates of a finished run."""
    summary: dict[str, Any] | None
    derived_from: str | None


class RunsQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which runs to list."""

    status: RunState | None = None
    group_id: str | None = None
    q: str | None = None


def run_body(project: Project, detail: RunDetail) -> RunBody:
    """A run as the API shows it."""
    run, times = detail.run, dict(reversed(detail.states))
    plan = run.plan
    setup = plan.setup if plan and plan.setup else None
    derived = plan.options.derived if plan else None
    repeats = plan.options.repeat if plan else 1
    return RunBody(
        run_id=run.run_id,
        group_id=run.group_id,
        dataset_id=setup.dataset_id if setup else run.dataset,
        dataset_version=setup.dataset_version if setup else None,
        status=run.status,
        resumable=is_resumable(run, project.is_alive),
        states=[StateTime(state=state, at=at) for state, at in detail.states],
        created_at=run.created_at,
        started_at=times.get("running"),
        completed_at=detail.states[-1][1] if is_terminal(run.status) and times else None,
        progress=RunProgress(
            total=None if detail.selected is None else detail.selected * repeats,
            done=detail.progress.rows,
            failed=detail.progress.failed_rows,
            retrying=detail.progress.retrying_rows,
        ),
        target=run.target,
        gates=_gates(run),
        summary=run.summary,
        derived_from=derived.run_id if derived else None,
    )


def _gates(run: StoredRun) -> list[RunGate]:
    if run.plan is None or not run.summary:
        return []
    found = evaluate_gates(kept_metrics(run.summary), Gates.of(run.plan.options.gates))
    return [RunGate(one.name, one.passed, one.reason) for one in found]


def _list(call: Call[RunsQuery, None]) -> JsonReply:
    asked = call.query
    query = RunQuery(status=asked.status, group_id=asked.group_id, text=asked.q)
    store = call.project.store
    page = list_runs(store, query, cursor=asked.cursor, limit=asked.limit)
    bodies = [run_body(call.project, detail) for detail in show_runs(store, page.runs)]
    return JsonReply(body=Page(bodies, page.next_cursor))


def _show(call: Call[NoQuery, None]) -> JsonReply:
    return JsonReply(
        body=run_body(call.project, show_run(call.project.store, call.path["run_id"]))
    )


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
