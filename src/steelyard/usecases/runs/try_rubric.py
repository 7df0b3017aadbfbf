"""Try a check rubric on the stored traces of a run: nothing is called, and nothing is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

import msgspec
from msgspec import structs

from steelyard.contracts.trace.reader import read_trace
from steelyard.engine.grading.grading import check_result, combined
from steelyard.engine.verdict_changes import Shift, shift_of
from steelyard.errors import InvalidError
from steelyard.execution.ports import TargetSpec
from steelyard.execution.prepared import Planned, Prepared
from steelyard.judging.instrument import rule_of
from steelyard.model.case import Case
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.outcome import Outcome, OutcomeStatus
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import CheckResult, Verdict
from steelyard.results.predictions import CheckScore, Prediction
from steelyard.results.projections import GradedCheck, GradedPrediction, JudgedDetails
from steelyard.usecases.correction.validation_status import SpecOf, instrument_of
from steelyard.usecases.results.read_run import read_predictions
from steelyard.usecases.runs.derived_runs import regrade_options
from steelyard.usecases.runs.ports import RunPorts
from steelyard.usecases.runs.prepare import prepare

MOST_TRACES = 5_000
"""A trial looks at so many traces, those of the first records."""
How: TypeAlias = Literal["carried out", "as recorded"]
_WITH_RUBRIC = ", rubric at "


class TriedCheck(NamedTuple):
    """A check of the rubric, and what changes by it against the check of the same name."""

    check: str
    kind: str
    how: How
    passed: int
    failed: int
    no_score: int
    gained: int
    """How many traces pass it now that did not before."""
    lost: int
    is_new: bool
    """Whether the run has no check of that name."""
    appeared: int = 0
    """How many traces have a score of it now that had none."""
    vanished: int = 0

    @property
    def is_tried(self) -> bool:
        """Whether any trace was graded by it."""
        return bool(self.passed + self.failed + self.no_score)


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricTrial:
    """What a rubric says of the traces of a run."""

    run_id: str
    rubric: str
    traces: int
    is_cut: bool
    """Whether the run has more traces than were looked at."""
    checks: tuple[TriedCheck, ...]
    untried: tuple[tuple[str, str], ...]
    """The checks that cannot be tried, with the reasons."""
    shift: Shift | None
    """How verdicts change; None where not every check can be tried."""
    not_graded: int = 0
    """How many answered records the rubric does not grade."""


async def try_rubric(ports: RunPorts, folder: Path, rubric: str) -> RubricTrial:
    """Grade stored traces by a rubric with what needs neither a judge nor a program.

    What a judge said in the run counts where it was asked the same in the same way.
    """
    options = structs.replace(regrade_options(folder, rubric), workers=1, gates={})
    prepared = prepare(ports.without_validations(), options)
    try:
        return _tried(prepared, folder, rubric)
    finally:
        await prepared.close()


def _tried(prepared: Prepared, folder: Path, rubric: str) -> RubricTrial:
    planned = {one.row.index: one for one in prepared.records()}
    checks = _rubric_of(planned.values(), rubric).checks
    answered = (row for row in read_predictions(folder) if row.trace is not None)
    rows = list(islice(answered, MOST_TRACES + 1))
    trial = _Trial(prepared, checks)
    for row in rows[:MOST_TRACES]:
        trial.look(row, planned.get(row.index))
    untried = tuple(trial.untried.items())
    return RubricTrial(
        run_id=folder.name,
        rubric=rubric,
        traces=len(trial.old),
        is_cut=len(rows) > MOST_TRACES,
        checks=tuple(trial.tried(entry) for entry in checks if entry.id not in trial.untried),
        untried=untried,
        shift=None if untried else shift_of(trial.old, trial.new),
        not_graded=trial.not_graded,
    )


def _rubric_of(planned: Iterable[Planned], name: str) -> Rubric:
    for one in planned:
        if isinstance(one.graded, Rubric):
            return one.graded
    raise InvalidError(f"{name} grades no record of the run")


class _Trial:
    """The gradings of a run's traces, before and now."""

    def __init__(self, prepared: Prepared, checks: tuple[RubricCheck, ...]) -> None:
        self._prepared = prepared
        self._rules = {one.id: _Recorded.of(one, self._spec_of) for one in checks}
        self._counts: dict[str, Counter[str]] = {one.id: Counter() for one in checks}
        self.untried: dict[str, str] = {}
        self.old: list[GradedPrediction] = []
        self.new: list[GradedPrediction] = []
        self.not_graded = 0

    def look(self, row: Prediction, planned: Planned | None) -> None:
        """Grade one more trace."""
        trace, _ = read_trace(row.trace)
        if trace is None or planned is None or planned.case is None:
            return
        if not isinstance(planned.graded, Rubric):
            self.not_graded += 1
            return
        if row.cost_usd is not None and planned.graded.needs_cost:
            trace = replace(trace, cost_usd=row.cost_usd)
        before = {one.check: one for one in row.evaluator_scores}
        results = [
            found
            for entry in planned.graded.checks
            if (found := self._result(entry, trace, planned.case, before.get(entry.id)))
        ]
        self.old.append(_graded(row, row.status, row.score, row.passed))
        if len(results) == len(planned.graded.checks):
            self.new.append(_regraded(row, combined(planned.graded, results)))

    def _result(
        self, entry: RubricCheck, trace: Trace, case: Case, before: CheckScore | None
    ) -> CheckResult | None:
        """What a check finds, or what judges said of it before; None where neither is known."""
        if entry.id in self.untried:
            return None
        if entry.runs_commands:
            self.untried[entry.id] = "it runs a program, which a trial does not"
            return None
        if not hasattr(entry.check, "ask"):
            found = check_result(entry, trace, case)
        else:
            why = self._rules[entry.id].objection(before)
            if why or before is None:
                self.untried[entry.id] = why
                return None
            found = _as_recorded(entry, before)
        self._count(found, before)
        return found

    def _count(self, found: CheckResult, before: CheckScore | None) -> None:
        counts, passed = self._counts[found.check], found.outcome.passed
        is_scored = found.outcome.status == "scored"
        counts["no score" if not is_scored else "passed" if passed else "failed"] += 1
        if before is None:
            counts["new"] += 1
        elif is_scored != (before.status == "scored"):
            counts["appeared" if is_scored else "vanished"] += 1
        elif is_scored and bool(before.passed) != bool(passed):
            counts["gained" if passed else "lost"] += 1

    def tried(self, entry: RubricCheck) -> TriedCheck:
        """What was found of a check."""
        counts = self._counts[entry.id]
        return TriedCheck(
            check=entry.id,
            kind=entry.check.kind,
            how="as recorded" if hasattr(entry.check, "ask") else "carried out",
            passed=counts["passed"],
            failed=counts["failed"],
            no_score=counts["no score"],
            gained=counts["gained"],
            lost=counts["lost"],
            is_new=bool(counts["new"]),
            appeared=counts["appeared"],
            vanished=counts["vanished"],
        )

    def _spec_of(self, judge: Judge, named: str | None) -> TargetSpec | None:
        judges = self._prepared.judges
        call = JudgeCall(judge=judge, messages=(), schema={}, identity="", target=named)
        return judges.specs.get(judges.target_of(call) or "")


class _Recorded(NamedTuple):
    """How a check is asked now; what was said before counts if it was asked the same."""

    fingerprints: frozenset[str]
    rule: str

    @classmethod
    def of(cls, entry: RubricCheck, spec_of: SpecOf) -> _Recorded:
        """That of a check, or of none that asks."""
        found = instrument_of(entry, spec_of) if hasattr(entry.check, "ask") else None
        return cls(frozenset(found.fingerprints) if found else frozenset(), rule_of(entry))

    def objection(self, before: CheckScore | None) -> str:
        """Why what judges said before says nothing of this check; empty where it does."""
        if before is None or (before.judge is None and before.kind != "composite"):
            return "it asks a judge, and the run has no answers of a check of this name"
        if not self.fingerprints:
            return "it asks judges within another rubric"
        said = msgspec.convert(before.details, JudgedDetails)
        if not set(said.fingerprints()) <= self.fingerprints:
            return "its judge is asked otherwise than in the run: another template or model"
        if (said.rule or "").partition(_WITH_RUBRIC)[0] != self.rule:
            return f"its judge decided by another rule in the run ({said.rule or 'none'})"
        return ""


def _as_recorded(entry: RubricCheck, before: CheckScore) -> CheckResult:
    outcome = Outcome(
        reason=before.reason or "",
        passed=before.passed,
        score=None if before.score is None else float(before.score),
        raw_score=None if before.raw_score is None else float(before.raw_score),
        status=cast(OutcomeStatus, before.status),
        judge=before.judge,
    )
    return CheckResult(
        check=entry.id,
        kind=entry.check.kind,
        outcome=outcome,
        weight=entry.weight,
        required=entry.required,
    )


def _regraded(row: Prediction, verdict: Verdict) -> GradedPrediction:
    made = _graded(row, verdict.status, verdict.score, verdict.passed)
    made.reason = verdict.reason
    made.evaluator_scores = tuple(
        GradedCheck(
            check=one.check, kind=one.kind, status=one.outcome.status, judge=one.outcome.judge
        )
        for one in verdict.results
    )
    return made


def _graded(
    row: Prediction, status: str, score: float | None, passed: bool | None
) -> GradedPrediction:
    return GradedPrediction(
        index=row.index,
        record_id=row.record_id,
        record_sha256=row.record_sha256,
        status=status,
        score=None if score is None else float(score),
        passed=passed,
        repeat=row.repeat,
        cluster=row.cluster or None,
    )
