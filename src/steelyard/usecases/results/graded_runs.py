"""The runs that a rubric graded, or that asked a judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from msgspec import UNSET

from steelyard.model.run import VALIDATION
from steelyard.results.manifest import UsedRubric
from steelyard.results.metrics import Metrics, kept_metrics
from steelyard.results.plan import Plan
from steelyard.results.stored_run import StoredRun

LOOKED_AT = 200
"""So many runs are looked at, the newest ones."""


class ListedRuns(Protocol):
    """The runs of a project."""

    def list(self, limit: int) -> Iterable[StoredRun]:
        """Some of them, newest first."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedRun:
    """A run with its numbers, where it has ended."""

    run: StoredRun
    rubrics: tuple[UsedRubric, ...]
    judges: tuple[str, ...]
    """The references of the judges that it asks."""
    metrics: Metrics | None


def graded_runs(
    runs: ListedRuns, *, rubric: str | None = None, judge: str | None = None
) -> list[GradedRun]:
    """Those of the newest runs that a rubric graded or that asked a judge, newest first.

    Runs that a validation made to try a judge do not count.
    """
    return [
        GradedRun(
            run=run,
            rubrics=tuple(_rubrics(run.plan)),
            judges=tuple(_judges(run.plan)),
            metrics=kept_metrics(run.summary) if run.summary else None,
        )
        for run in runs.list(LOOKED_AT)
        if run.plan
        and not (run.group_id or "").startswith(VALIDATION)
        and (rubric is None or any(one.rubric == rubric for one in _rubrics(run.plan)))
        and (judge is None or judge in _judges(run.plan))
    ]


def _rubrics(plan: Plan) -> Iterator[UsedRubric]:
    if plan.setup is not UNSET:
        yield from plan.setup.rubrics


def _judges(plan: Plan) -> Iterable[str]:
    return plan.judges.templates if plan.judges is not UNSET else ()
