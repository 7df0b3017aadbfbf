"""The page of a run: its result in words, what to look at, slices, records, live progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from msgspec import structs
from starlette.responses import RedirectResponse, Response

from steelyard.api.resources.run_changes import cancel_stored, finished_runs
from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import shown_metrics, shown_rows, shown_slices, shown_summaries
from steelyard.engine.states import is_terminal
from steelyard.errors import InvalidError
from steelyard.event_loop import run_async
from steelyard.reports.run.look_items import LookItem
from steelyard.reports.run.run_summary import Notice
from steelyard.results.runs import RunDetail
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.results.runs import show_run
from steelyard.usecases.results.verify import ArtifactState, Verification, verify
from steelyard.usecases.runs.ownership import has_owner
from steelyard.usecases.runs.queue import enqueue_run
from steelyard.usecases.runs.run_progress import LiveProgress, progress_of
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage
from steelyard.web.records.record_address import Address, RecordFilters
from steelyard.web.records.record_table import RecordTable, record_table
from steelyard.web.rendering import query_text, segment
from steelyard.web.runs.run_exports import csv_of_run, report_of_run
from steelyard.web.runs.run_head import RunHead, head_of, run_href
from steelyard.web.runs.run_results import (
    RunResults,
    finished_results,
    live_results,
    unfinished_results,
)
from steelyard.web.runs.run_states import PRUNED, SPOILED, record_notices, state_notices


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext(Context):
    """What the page of a run shows."""

    template: ClassVar[str] = "run.html"
    head: RunHead
    results: RunResults
    table: RecordTable | None
    address: Address
    progress: LiveProgress | None
    """Of a run that is executed or waits for it."""
    notices: tuple[Notice, ...]
    """What to know of its state."""
    spoiled: tuple[ArtifactState, ...]
    """Files that are not what was sealed."""
    warnings: tuple[str, ...]
    """What was warned of when the run began, and since."""
    kept_for: str
    """What the views and columns that a reader keeps belong to: dataset and rubrics."""

    def look_href(self, item: LookItem) -> str:
        """The records that share a reason to be looked at."""
        if item.kind == "failure":
            return self.address.only(label=item.name)
        if item.kind == "check":
            return self.address.only(check=item.name, passed=False)
        if item.kind == "canary":
            return self.address.only(passed=True)
        if item.kind == "skipped":
            return self.address.only(status="skipped")
        return self.address.only(only="split" if item.kind == "split" else "differs")

    @staticmethod
    def definition_href(reference: str) -> str | None:
        """The page of a rubric or judge; None where the name is no single reference."""
        kind, _, name = reference.partition("/")
        if kind not in {"rubric", "judge"} or not name or "," in name:
            return None
        return f"/{kind}s/{segment(name)}"

    @staticmethod
    def run_href(run_id: str) -> str:
        """The page of another run."""
        return run_href(run_id)


def _show(visit: Visit[RecordFilters]) -> Context | Response:
    project, name = visit.project, visit.path["run_id"]
    detail = show_run(project.store, name)
    run = detail.run
    if run.run_id != name:
        query = visit.request.url.query
        return RedirectResponse(run_href(run.run_id) + (f"?{query}" if query else ""), 303)
    found, ports = None, project.result_ports()
    has_ended = run.plan is not None and is_terminal(run.status)
    folder = ports.run_folder(run.run_id) if has_ended else ports.runs / run.run_id
    if has_ended and is_run_folder(folder):
        found = verify(folder, ports.known_digest)
    if run.plan is None:
        return _context(visit, detail, None, _State(RunResults(), (PRUNED,), 410))
    if found and not found.is_intact:
        return _context(visit, detail, found, _State(RunResults(), (SPOILED,), 409))
    if found:
        results = finished_results(project, folder, visit.query.slices)
        return _context(visit, detail, found, _State(results, tuple(record_notices(results))))
    is_live = not is_terminal(run.status) and not project.standing(run).has_stopped
    if is_live:
        results = live_results(project, run)
    else:
        results = unfinished_results(project, run, visit.query.slices)
    return _context(visit, detail, None, _State(results, tuple(state_notices(visit.served, run))))


class _State(NamedTuple):
    """What there is to show of a run, and with which status."""

    results: RunResults
    notices: tuple[Notice, ...]
    status: int = 200


def _context(
    visit: Visit[RecordFilters], detail: RunDetail, found: Verification | None, state: _State
) -> RunContext:
    project, run, results = visit.project, detail.run, state.results
    may_write = visit.identity.may("runs:write")
    head = head_of(project, detail, found, may_write=may_write)
    spoiled = [file for file in found.files if not file.is_as_sealed] if found else []
    is_unfinished = run.plan is not None and not is_terminal(run.status)
    table = record_table(results.source, visit.query) if results.source else None
    examples = [one.index for item in results.look for one in item.examples]
    note_shown(
        visit,
        shown_rows(run.run_id, examples),
        shown_slices(run.run_id, results.slices),
        *shown_summaries([run]),
        *(one.told for one in head.others),
        *([shown_metrics(run.run_id, results.so_far)] if results.so_far else []),
        *([table.told] if table else []),
    )
    return RunContext(
        title=head.target or head.title,
        status=state.status,
        crumbs=(
            Crumb("Runs", "/runs"),
            Crumb(head.dataset, f"/runs{query_text({'q': head.dataset})}"),
        ),
        head=head,
        results=results,
        table=table,
        address=Address(run.run_id, visit.query),
        progress=_progress(visit, detail, results) if is_unfinished else None,
        notices=state.notices,
        spoiled=tuple(spoiled),
        warnings=tuple(project.store.warnings(run.run_id)),
        kept_for=" ".join((head.dataset, *_rubrics(run))),
    )


def _resume(visit: Visit[RecordFilters]) -> StoredRun:
    project, run_id = visit.project, visit.path["run_id"]
    return enqueue_run(project.run_ports(), project.run_queue, run_id, caller=visit.caller)


def _retry(visit: Visit[RecordFilters]) -> StoredRun:
    runs, run_id = finished_runs(visit.project), visit.path["run_id"]
    return run_async(lambda: runs.queue_retry(run_id, caller=visit.caller))


def _regrade(visit: Visit[RecordFilters]) -> StoredRun:
    runs, run_id = finished_runs(visit.project), visit.path["run_id"]
    rubric = visit.form.get("rubric", "").strip()
    return run_async(lambda: runs.queue_regrade(run_id, rubric, caller=visit.caller))


def _rubrics(run: StoredRun) -> Sequence[str]:
    setup = run.plan.setup if run.plan else None
    return [one.rubric for one in setup.rubrics] if setup else ()


_ACTIONS: dict[str, Callable[[Visit[RecordFilters]], StoredRun]] = {
    "cancel": lambda visit: cancel_stored(visit.project, visit.path["run_id"], visit.caller),
    "resume": _resume,
    "retry": _retry,
    "regrade": _regrade,
}


def _progress(visit: Visit[RecordFilters], detail: RunDetail, results: RunResults) -> LiveProgress:
    """How far a run has come; where a rate is shown beside it, of the rows of that rate."""
    if so_far := results.so_far:
        read = structs.replace(detail.progress, rows=so_far.rows, failed_rows=so_far.failure_rows)
        detail = replace(detail, progress=read)
    is_held = has_owner(detail.run, visit.project.is_alive)
    return progress_of(detail, visit.project.clock.now(), is_held=is_held)


def _submit(visit: Visit[RecordFilters]) -> Response:
    """Change a run, or derive one from it; then show what became of it."""
    act = _ACTIONS.get(visit.form.get("action", ""))
    if act is None:
        raise InvalidError(f"action must be one of {', '.join(_ACTIONS)}")
    return RedirectResponse(run_href(act(visit).run_id), 303)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/runs/{run_id}",
        section="runs",
        scope="runs:read",
        show=_show,
        query=RecordFilters,
        submit=_submit,
        submit_scope="runs:write",
    ),
    WebPage(
        path="/runs/{run_id}/records.csv",
        section="runs",
        scope="runs:read",
        show=csv_of_run,
        query=RecordFilters,
    ),
    WebPage(
        path="/runs/{run_id}/report.html", section="runs", scope="runs:read", show=report_of_run
    ),
)
