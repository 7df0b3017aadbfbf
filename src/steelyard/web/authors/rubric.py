"""A rubric: its form or checks, versions, differences, and a trial on a stored run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

from starlette.responses import Response

from steelyard.api.result_notes import note_shown
from steelyard.api.shown_results import ShownResults, shown_rates
from steelyard.engine.verdict_changes import Change, ChangedVerdict
from steelyard.errors import RequestError
from steelyard.event_loop import run_async
from steelyard.reports.question_form import QuestionForm, question_form
from steelyard.reports.run.check_table import CheckTable, check_table
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.graded_runs import LOOKED_AT, GradedRun, graded_runs
from steelyard.usecases.runs.try_rubric import RubricTrial, try_rubric
from steelyard.web.authors.definitions import (
    VersionQuery,
    VersionView,
    change_version,
    version_view,
)
from steelyard.web.page import AnyPage, Context, Crumb, Visit, WebPage

_OFFERED = 50
"""So many runs are offered to try a rubric on."""
MOST_MOVED = 50
"""So many records with another verdict are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricContext(Context):
    """What the page of a rubric shows."""

    template: ClassVar[str] = "rubric.html"
    view: VersionView
    form: QuestionForm | None
    checks: CheckTable | None
    runs: tuple[GradedRun, ...]
    """The runs that it graded, newest first."""
    looked_at: int = LOOKED_AT
    offered: tuple[StoredRun, ...] = ()
    """The runs on which it can be tried."""
    tried_on: str = ""
    trial: RubricTrial | None = None
    no_trial: str = ""
    """Why it cannot be tried on the run."""
    most_moved: int = MOST_MOVED

    @property
    def moved(self) -> list[ChangedVerdict]:
        """The records with another verdict, worst first, then those with another score."""
        found = self.trial.shift.moved if self.trial and self.trial.shift else ()
        order = get_args(Change)
        return sorted(found, key=lambda one: order.index(one.change))[:MOST_MOVED]


def _show(visit: Visit[VersionQuery]) -> RubricContext:
    return _context(visit)


def _submit(visit: Visit[VersionQuery]) -> RubricContext | Response:
    done = change_version(visit, "rubric")
    return _context(visit, done) if isinstance(done, str) else done


def _context(visit: Visit[VersionQuery], message: str = "") -> RubricContext:
    view = version_view(visit, "rubric", message)
    shown, store = view.shown, visit.project.store
    is_checks = shown.contract == "check_rubric"
    name = visit.query.run if is_checks and visit.identity.may("runs:read") else ""
    trial, why = _trial(visit, shown.reference, name) if name else (None, "")
    may_see = visit.identity.may("runs:read")
    runs = tuple(graded_runs(store, rubric=shown.reference)) if may_see else ()
    note_shown(visit, *shown_rates(one.run for one in runs))
    return RubricContext(
        title=view.name,
        crumbs=(Crumb("Rubrics", "/rubrics"),),
        view=view,
        form=None if is_checks else question_form(shown.content),
        checks=check_table(shown.content) if is_checks else None,
        runs=runs,
        offered=_offered(visit) if is_checks and may_see else (),
        tried_on=trial.run_id if trial else name,
        trial=trial,
        no_trial=why,
    )


def _offered(visit: Visit[VersionQuery]) -> tuple[StoredRun, ...]:
    found = graded_runs(visit.project.store)
    return tuple(one.run for one in found if one.metrics)[:_OFFERED]


def _trial(visit: Visit[VersionQuery], rubric: str, run: str) -> tuple[RubricTrial | None, str]:
    """What the rubric says of the run's traces, or why that cannot be said."""
    ports = visit.project.run_ports(_ignore)
    try:
        folder = visit.project.run_folder(run)
        trial = run_async(lambda: try_rubric(ports, folder, rubric))
    except RequestError as wrong:
        return None, str(wrong)
    note_shown(visit, ShownResults(trial.run_id, None))
    return trial, ""


def _ignore(_warning: str) -> None:
    """A trial warns on the page of what cannot be tried."""


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/rubrics/{ref}",
        section="rubrics",
        scope="registry:read",
        show=_show,
        query=VersionQuery,
        submit=_submit,
        submit_scope="registry:write",
    ),
)
