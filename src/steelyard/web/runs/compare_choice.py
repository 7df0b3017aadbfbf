"""The form that chooses two runs to compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from steelyard.engine.states import is_terminal
from steelyard.errors import NotFoundError
from steelyard.model.run import VALIDATION
from steelyard.model.statistics.interval import Interval
from steelyard.project import Project
from steelyard.results.metrics import kept_metrics
from steelyard.results.runs import RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.runs import list_runs
from steelyard.web.page import Context, Crumb

_LISTED = 100


class RunChoice(NamedTuple):
    """A finished run with its pass rate."""

    run: StoredRun
    rate: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceContext(Context):
    """Runs of which two can be chosen."""

    template: ClassVar[str] = "compare_choice.html"
    runs: Sequence[RunChoice]
    a: str | None
    b: str | None
    q: str | None
    problem: str | None
    dataset: str | None
    """The dataset whose runs come first."""


def choice_of(
    project: Project,
    a: str | None,
    b: str | None,
    text: str | None,
    problem: tuple[int, str] | None = None,
) -> ChoiceContext:
    """The newest finished runs, those with the dataset of a chosen run first."""
    status, why = problem or (200, None)
    listed = list_runs(project.store, RunQuery(text=text), limit=_LISTED).runs
    runs = [
        RunChoice(run, kept_metrics(run.summary).pass_rate)
        for run in listed
        if is_terminal(run.status) and run.summary and run.plan and not is_validation(run)
    ]
    chosen = [_found(project, name) for name in (a, b)]
    dataset = next((run.dataset for run in chosen if run), None)
    runs.sort(key=lambda one: dataset is not None and one.run.dataset != dataset)
    first, second = (run.run_id if run else None for run in chosen)
    if first is None and second is None:
        first, second = _newest_pair(runs)
    return ChoiceContext(
        title="Compare two runs",
        crumbs=(Crumb("Runs", "/runs"),),
        status=status,
        runs=runs,
        a=first,
        b=second,
        q=text,
        problem=why,
        dataset=dataset,
    )


def _newest_pair(runs: Sequence[RunChoice]) -> tuple[str, str] | tuple[None, None]:
    """The newest run and the one before it with the same dataset, which is its baseline."""
    for place, one in enumerate(runs):
        for before in runs[place + 1 :]:
            if before.run.dataset == one.run.dataset:
                return before.run.run_id, one.run.run_id
    return None, None


def is_validation(run: StoredRun) -> bool:
    """Whether a validation of a judge made the run, which is no result of anybody's."""
    return run.group_id is not None and run.group_id.startswith(VALIDATION)


def _found(project: Project, name: str | None) -> StoredRun | None:
    if name is None:
        return None
    try:
        return project.store.find(name)
    except NotFoundError:
        return None
