"""The pass rates of one dataset and target over time, and what changed between its runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UnsetType

from steelyard.model.run import VALIDATION
from steelyard.results.manifest import Manifest
from steelyard.results.metrics import Metrics, kept_metrics
from steelyard.results.plan import Plan
from steelyard.results.runs import RunQuery
from steelyard.results.stored_run import StoredRun
from steelyard.settings import SuiteSettings
from steelyard.usecases.results.comparability import mismatches_of
from steelyard.usecases.results.runs import Runs

MOST_RUNS = 30
"""How many runs a trend shows: the newest ones."""
_SEARCHED_RUNS = 200
_SHOWN = 12


class RunChange(NamedTuple):
    """Something other than the target that changed, so that two rates mean different things."""

    what: str
    before: str
    after: str


class TrendPoint(NamedTuple):
    """One run of a trend."""

    run: StoredRun
    metrics: Metrics
    changes: tuple[RunChange, ...]
    """What is not as in the run before; empty for the first."""
    is_target_changed: bool = False
    """Whether the target has other settings or recorded responses than in the run before."""
    copied: int = 0
    """So many of its results are those of the run that it was derived from."""

    @property
    def is_repetition(self) -> bool:
        """Whether it measures nothing anew: every score is copied."""
        scored = self.metrics.rows - self.metrics.failure_rows
        return bool(self.copied) and self.copied >= scored


def run_trend(runs: Runs, dataset: str, target: str) -> list[TrendPoint]:
    """The newest finished runs of a dataset and a target that have a rate, oldest first."""
    found = runs.list(MOST_RUNS, RunQuery(dataset=dataset, target=target))
    points: list[TrendPoint] = []
    for run in reversed(found):
        if run.plan is None or run.summary is None or is_validation(run):
            continue
        metrics = kept_metrics(run.summary)
        if metrics.pass_rate.value is None:
            continue
        before = points[-1].run if points else None
        points.append(
            TrendPoint(
                run,
                metrics,
                tuple(changes_between(before, run)) if before else (),
                is_target_changed=bool(before and _target(before) != _target(run)),
                copied=0 if isinstance(metrics.copied, UnsetType) else metrics.copied.rows,
            )
        )
    return points


def _target(run: StoredRun) -> object:
    """What is known of the settings and the recorded responses of a target."""
    plan = run.plan
    if plan is None:
        return None
    return plan.models, plan.responses, plan.setup.targets if plan.setup else None


def is_validation(run: StoredRun) -> bool:
    """Whether a run only finds out how far a judge is right."""
    return (run.group_id or "").startswith(VALIDATION)


def changes_between(before: StoredRun, after: StoredRun) -> Iterator[RunChange]:
    """What makes the rates of two runs incomparable, from their plans."""
    first, second = before.plan, after.plan
    if first is None or second is None or not first.setup or not second.setup:
        return
    if sorted(first.source.values()) != sorted(second.source.values()):
        yield RunChange("dataset", _version(first), _version(second))
    for found in mismatches_of(_manifest(before, first), _manifest(after, second)):
        if found.is_serious:
            yield RunChange(found.what, found.a, found.b)
    if _judges(first) != _judges(second):
        yield RunChange("judge", _judge_names(first), _judge_names(second))


def _manifest(run: StoredRun, plan: Plan) -> Manifest:
    """A manifest as far as the plan knows it."""
    assert plan.setup
    return Manifest(
        run_id=run.run_id,
        status=run.status,
        created_at=run.created_at,
        completed_at=None,
        states=(),
        setup=plan.setup,
    )


def _version(plan: Plan) -> str:
    version = plan.setup.dataset_version if plan.setup else None
    if version and not version.startswith("sha256:"):
        return version
    hashes: Sequence[str] = sorted(plan.source.values())
    return f"sha256:{hashes[0].removeprefix('sha256:')[:_SHOWN]}…" if hashes else "unknown"


def _judges(plan: Plan) -> object:
    known = plan.judges
    return None if isinstance(known, UnsetType) else (known.templates, known.targets)


def _judge_names(plan: Plan) -> str:
    known = plan.judges
    if isinstance(known, UnsetType):
        return "unknown"
    names = (f"{name} ({digest[:_SHOWN]}…)" for name, digest in known.templates.items())
    return ", ".join(names) or "none"


def subject_of_suite(runs: Runs, suite: SuiteSettings) -> tuple[str, str] | None:
    """The names of the dataset and the target that the newest run of a suite has.

    None where none of the newest runs has read the file of the suite.
    """
    for run in runs.list(_SEARCHED_RUNS, RunQuery(target=suite.target)):
        if run.plan and run.target and str(run.plan.options.dataset) == suite.dataset:
            return run.dataset, run.target
    return None
