"""`composite`: the result of another rubric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.engine.grading.grading import grade, grade_judged
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import CheckResult, Verdict

COMPOSITE_REVISION = 2


def composite(rubric: Rubric) -> Composite | JudgedComposite:
    """The check that is another rubric; it asks judges where that one does."""
    return JudgedComposite(rubric=rubric) if rubric.is_judged else Composite(rubric=rubric)


class _OfRubric(FrozenStruct, frozen=True, kw_only=True):
    """A check that stands for another rubric."""

    kind: ClassVar[str] = "composite"
    revision: ClassVar[int] = COMPOSITE_REVISION

    rubric: Rubric

    @property
    def members(self) -> tuple[RubricCheck, ...]:
        """The checks of the inner rubric."""
        return self.rubric.checks


class Composite(_OfRubric, frozen=True, kw_only=True):
    """Pass when another rubric passes; the score is that rubric's."""

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Grade by the inner rubric."""
        return outcome_of(self.rubric.name, grade(self.rubric, trace, case))


class JudgedComposite(_OfRubric, frozen=True, kw_only=True):
    """The same for a rubric that asks judges."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """Grade by the inner rubric."""
        return outcome_of(self.rubric.name, await grade_judged(self.rubric, trace, case, asker))


COMPOSITES = (Composite, JudgedComposite)


def outcome_of(name: str, verdict: Verdict) -> Outcome:
    """A verdict as what one check found; the results that led to it are in the details."""
    details: JsonObject = {"rubric": name, "results": inner_rows(verdict.results)}
    if verdict.status == "evaluated":
        return Outcome(
            passed=verdict.passed,
            score=verdict.score,
            raw_score=None if verdict.raw_score == verdict.score else verdict.raw_score,
            reason=f"{verdict.reason}{not_looked_at(verdict.results)}",
            details=details,
            is_unavailable=is_unavailable(verdict.results),
        )
    if verdict.status == "evaluation_error":
        return Outcome(status="unscored", reason=verdict.reason, details=details)
    return Outcome(
        status="skipped",
        reason=verdict.reason,
        details=details,
        is_unavailable=is_unavailable(verdict.results),
    )


def is_unavailable(results: Sequence[CheckResult]) -> bool:
    """Whether something that a check needs was not there."""
    return any(result.outcome.is_unavailable for result in results)


def not_looked_at(results: Sequence[CheckResult]) -> str:
    """Which checks were skipped because something was not there, to put behind a reason."""
    skipped = [
        f"{result.check}: {result.outcome.reason}"
        for result in results
        if result.outcome.is_unavailable and result.outcome.status == "skipped"
    ]
    return f"; not looked at: {'; '.join(skipped)}" if skipped else ""


def inner_rows(results: tuple[CheckResult, ...]) -> list[JsonValue]:
    """What the inner checks found, one row each."""
    return [
        {
            "check": result.check,
            "kind": result.kind,
            "score": result.outcome.score,
            "passed": result.outcome.passed,
            "status": result.outcome.status,
            "reason": result.outcome.reason,
            "judge": result.outcome.judge,
            **_answers(result),
            "details": dict(result.outcome.details),
        }
        for result in results
    ]


def _answers(result: CheckResult) -> JsonObject:
    answers = result.outcome.answers
    return {"answers": answers_row(answers)} if answers else {}
