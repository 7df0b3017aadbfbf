"""Read the results so far of an unfinished run from the store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import structs

from steelyard.engine.metrics.extent import Extent
from steelyard.engine.metrics.run_metrics import metrics_of
from steelyard.execution.finalize import uncounted_calls
from steelyard.execution.ports import RunRepository
from steelyard.reports.run.run_text import RunView
from steelyard.results.facts import read_facts
from steelyard.results.failures import Failure, read_failure
from steelyard.results.manifest import Manifest, StateTime
from steelyard.results.stored_run import StoredRun, require_plan
from steelyard.usecases.runs.ownership import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfinishedRun:
    """An unfinished run."""

    view: RunView
    selected: int | None
    """How many records it is about."""
    standing: Standing

    @property
    def progress_text(self) -> str:
        """Its progress, and how to resume it."""
        metrics, run_id = self.view.metrics, self.view.run_id
        done = f"{metrics.total_records:,}"
        of = "" if self.selected is None else f" of {self.selected:,}"
        standing = self.standing
        more = f"; {standing.why_not_resumable}" if standing.why_not_resumable else ""
        if standing.is_resumable:
            more = f"; resume it with: steelyard resume {run_id}"
        return f"not finished: {standing.text}; {done}{of} record(s) so far{more}"


def _failures(repository: RunRepository, run_id: str) -> Iterator[Failure]:
    kept = (row.failure for row in repository.results(run_id))
    return (read_failure(failure) for failure in kept if failure)


def read_unfinished(
    repository: RunRepository, run: StoredRun, standing: Standing
) -> UnfinishedRun:
    """The stored results of a run, with their metrics."""
    plan = require_plan(run)
    facts = (read_facts(kept.facts) for kept in repository.results(run.run_id))
    metrics, slices = metrics_of(facts, Extent(plan.selected or 0))
    metrics = structs.replace(metrics, **uncounted_calls(repository, run.run_id))
    if metrics.total_records != plan.selected:
        # How far the records that are left can move the rate is for the end to say.
        metrics = structs.replace(metrics, pass_rate_bounds=None)
    assert plan.setup
    manifest = Manifest(
        run_id=run.run_id,
        status=run.status,
        created_at=run.created_at,
        completed_at=None,
        states=tuple(
            StateTime(state=state, at=at) for state, at in repository.state_times(run.run_id)
        ),
        setup=plan.setup,
    )
    return UnfinishedRun(
        view=RunView(
            manifest=manifest,
            metrics=metrics,
            slices=slices,
            folder="",
            failures=lambda: _failures(repository, run.run_id),
        ),
        selected=plan.selected,
        standing=standing,
    )
