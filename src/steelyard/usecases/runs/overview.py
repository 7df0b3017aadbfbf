"""What needs attention in a project, and what to do next: from its newest runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, TypeAlias

from steelyard.engine.states import is_terminal
from steelyard.model.statistics.corrected_rate import CorrectedRate
from steelyard.reports.judges.correction import drift_text
from steelyard.reports.numbers import count, counted
from steelyard.reports.run.missing_scores import records_without_score
from steelyard.reports.sentence import sentence
from steelyard.results.metrics import Metrics, kept_metrics
from steelyard.results.stored_run import StoredRun
from steelyard.settings import SuiteSettings
from steelyard.usecases.results.gates import UNGATED, Gates, evaluate_gates
from steelyard.usecases.results.run_trends import is_validation
from steelyard.usecases.runs.ownership import Standing

LOOKED_AT = 50
"""How many of the newest runs are looked at."""
_WAITS_LONG = timedelta(seconds=30)
Severity: TypeAlias = Literal["bad", "warn"]
ConcernKind: TypeAlias = Literal[
    "stopped",
    "unresumable",
    "waiting",
    "failed",
    "gate",
    "missing",
    "unanswerable",
    "drifted",
    "uncorrected",
]
StepKind: TypeAlias = Literal["answer", "label", "compare", "suite", "run_suite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concern:
    """Something that somebody should look at."""

    kind: ConcernKind
    severity: Severity
    what: str
    why: str
    run: StoredRun | None = None
    judges: tuple[str, ...] = ()
    """The judges that it is about, each once."""
    is_of_jury: bool = False
    """Whether these are jurors, who are validated together and not by a name."""


class OpenQueue(NamedTuple):
    """A review queue that people can answer."""

    queue_id: str
    name: str
    run_id: str
    waiting: int
    """Its items that wait for whoever looks."""


class NextStep(NamedTuple):
    """Something that makes sense to do next."""

    kind: StepKind
    runs: tuple[StoredRun, ...] = ()
    name: str = ""
    """A judge or a suite."""
    queue: OpenQueue | None = None


class MeasuredRun(NamedTuple):
    """A run with its numbers, as far as it has any."""

    run: StoredRun
    metrics: Metrics | None
    corrected: CorrectedRate | None

    @property
    def title(self) -> str:
        """Its dataset and its target."""
        return f"{self.run.dataset} × {self.run.target or 'several targets'}"

    @property
    def missing(self) -> int:
        """Records without a score."""
        return records_without_score(self.metrics) if self.metrics else 0


def measured_run(
    run: StoredRun, current: Callable[[StoredRun, Metrics], CorrectedRate | None]
) -> MeasuredRun:
    """A run with its stored metrics and its current corrected rate."""
    if run.summary is None:
        return MeasuredRun(run, None, None)
    metrics = kept_metrics(run.summary)
    return MeasuredRun(run, metrics, current(run, metrics))


def concerns_of(
    newest: Sequence[MeasuredRun], standing: Callable[[StoredRun], Standing], now: datetime
) -> list[Concern]:
    """What needs attention, the gravest first; superseded runs need none."""
    latest = _latest(newest)
    found = [
        *_unfinished(newest, standing, now),
        *(one for run in latest for one in _failed(run)),
        *_drifted(latest),
        *_unvalidated(latest),
    ]
    return sorted(found, key=lambda one: one.severity != "bad")


def _latest(newest: Sequence[MeasuredRun]) -> list[MeasuredRun]:
    """The newest ended run of each dataset, target and rubric."""
    found: dict[tuple[str, str | None, str | None], MeasuredRun] = {}
    for one in newest:
        run = one.run
        if run.plan and is_terminal(run.status) and not is_validation(run):
            found.setdefault((run.dataset, run.target, run.plan.options.rubric), one)
    return list(found.values())


def _unfinished(
    newest: Sequence[MeasuredRun], standing: Callable[[StoredRun], Standing], now: datetime
) -> Iterator[Concern]:
    for one in newest:
        run = one.run
        found = standing(run)
        if found.is_resumable:
            yield Concern(
                kind="stopped",
                severity="warn",
                what=f"{one.title} was stopped and can be resumed",
                why="What it has done is kept; only the rest is asked.",
                run=run,
            )
        elif found.why_not_resumable:
            what = f"{one.title} was stopped and cannot be resumed"
            why = sentence(found.why_not_resumable)
            yield Concern(kind="unresumable", severity="bad", what=what, why=why, run=run)
        elif run.status == "queued" and run.is_queued and _waits_long(run, now):
            yield Concern(
                kind="waiting",
                severity="warn",
                what=f"{one.title} waits for a worker",
                why="No worker has taken it; one must be started.",
                run=run,
            )


def _waits_long(run: StoredRun, now: datetime) -> bool:
    is_free = run.owner is None or (run.lease_left_s is not None and run.lease_left_s <= 0)
    return is_free and now - datetime.fromisoformat(run.created_at) > _WAITS_LONG


def _failed(one: MeasuredRun) -> Iterator[Concern]:
    run, metrics = one.run, one.metrics
    if run.status == "failed":
        why = "Its page says why; what was done until then is kept."
        yield Concern(kind="failed", severity="bad", what=f"{one.title} failed", why=why, run=run)
    if metrics is None or run.status == "failed" or run.plan is None:
        return
    is_gated = run.status not in UNGATED
    gates = evaluate_gates(metrics, Gates.of(run.plan.options.gates)) if is_gated else ()
    for gate in gates:
        if not gate.passed and not gate.is_missing_scores:
            what = f"{one.title} missed its gate {gate.name}"
            yield Concern(
                kind="gate", severity="bad", what=what, why=sentence(gate.reason), run=run
            )
    if one.missing:
        yield _missing(one, metrics)


def _missing(one: MeasuredRun, metrics: Metrics) -> Concern:
    """Records without a score, however the run ended."""
    records = f"{counted(one.missing, 'record')} without a score"
    invalid = metrics.invalid_records
    if invalid:
        records = f"{records} ({count(invalid)} invalid)"
    has = "was cancelled with" if one.run.status == "cancelled" else "has"
    can_retry = metrics.failed_records - invalid + metrics.cancelled_records > 0
    again = "it" if one.missing == 1 else "them"
    why = f"Ask {again} again once the cause is fixed."
    if not can_retry:
        why = f"The page of the run says why; to ask {again} again would change nothing."
    return Concern(
        kind="missing" if can_retry else "unanswerable",
        severity="warn",
        what=f"{one.title} {has} {records}, of {count(metrics.total_records)}",
        why=f"{'It is' if one.missing == 1 else 'They are'} in no rate. {why}",
        run=one.run,
    )


def _drifted(latest: Sequence[MeasuredRun]) -> Iterator[Concern]:
    for one in latest:
        if one.corrected and one.corrected.is_drifted:
            yield Concern(
                kind="drifted",
                severity="bad",
                what=f"{one.corrected.named} has drifted on {one.title}",
                why=sentence(drift_text(one.corrected)),
                run=one.run,
                judges=_judges(one.corrected),
            )


def _unvalidated(latest: Sequence[MeasuredRun]) -> Iterator[Concern]:
    """Judges whose results cannot be corrected, each reason once."""
    known: set[str] = set()
    for one in latest:
        found = one.corrected
        if found is None or found.is_corrected or not found.reason or found.reason in known:
            continue
        known.add(found.reason)
        yield Concern(
            kind="uncorrected",
            severity="warn",
            what=f"The pass rate of {one.title} is uncorrected",
            why=sentence(found.reason),
            run=one.run,
            judges=_judges(found),
            is_of_jury=found.is_of_jury,
        )


def _judges(found: CorrectedRate) -> tuple[str, ...]:
    return tuple(found.named.split(", "))


def next_steps(
    newest: Sequence[MeasuredRun],
    suites: Sequence[tuple[str, SuiteSettings]],
    queues: Sequence[OpenQueue] = (),
) -> list[NextStep]:
    """What makes sense to do next, derived from what is there: first what people wait for."""
    waiting = [one for one in queues if one.waiting]
    steps = [NextStep("answer", queue=one) for one in waiting[:1]]
    reviewed = {one.run_id for one in queues}
    latest = _latest(newest)
    unread = next(
        (
            one
            for one in latest
            if one.corrected and not one.corrected.is_corrected and one.run.run_id not in reviewed
        ),
        None,
    )
    if unread and unread.corrected:
        steps.append(NextStep("label", (unread.run,), unread.corrected.named))
    if pair := _newest_pair(newest):
        steps.append(NextStep("compare", pair))
    asked = {(str(run.plan.options.dataset), run.target) for run, _, _ in newest if run.plan}
    idle = [name for name, suite in suites if (suite.dataset, suite.target) not in asked]
    if idle:
        steps.append(NextStep("run_suite", (), idle[0]))
    if not suites:
        steps.append(NextStep("suite"))
    return steps


def _newest_pair(newest: Sequence[MeasuredRun]) -> tuple[StoredRun, StoredRun] | None:
    """The newest two runs that graded one dataset by one rubric: the older first."""
    seen: dict[tuple[str, str | None], StoredRun] = {}
    for run, metrics, _ in newest:
        if metrics is None or run.plan is None or is_validation(run):
            continue
        if not metrics.evaluated_records:
            continue
        older_of = seen.get(key := (run.dataset, run.plan.options.rubric))
        if older_of:
            return run, older_of
        seen[key] = run
    return None
