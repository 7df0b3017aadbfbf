"""Composite evaluators: several checks, joined by a mean, a share, a program or a judge."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from msgspec.structs import replace

from steelyard.checks.command import Command
from steelyard.contracts.eval_cases.prompts import RESULTS
from steelyard.engine.grading.composite import (
    COMPOSITE_REVISION,
    inner_rows,
    is_unavailable,
    not_looked_at,
    outcome_of,
)
from steelyard.engine.grading.grading import check_result, combined, judged_result
from steelyard.engine.threads import in_thread
from steelyard.judging.llm_judge import LlmJudge
from steelyard.judging.material import material, quotable
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judgement import Asker
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric, RubricCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import CheckResult


class Joined(Protocol):
    """How the results of members become one; those that were skipped are left out."""

    def outcome(self, results: Sequence[CheckResult]) -> Outcome:
        """One result of many, every one of which has a score."""
        ...


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """The mean of the scores; the weights that members have of their own do not count."""

    weights: Mapping[str, float] = field(hash=False)
    """By the name of the member; 1 without one."""
    threshold: float

    def outcome(self, results: Sequence[CheckResult]) -> Outcome:
        """The mean, and whether it is enough."""
        weighed = [replace(one, weight=self.weights.get(one.check, 1.0)) for one in results]
        rubric = Rubric(id="members", version="", checks=(), pass_threshold=self.threshold)
        return outcome_of("weighted_average", combined(rubric, weighed))


class PassShare(FrozenStruct, frozen=True):
    """The share of members that pass."""

    threshold: float

    def outcome(self, results: Sequence[CheckResult]) -> Outcome:
        """The share, and whether it is enough."""
        passed = sum(bool(one.outcome.passed) for one in results)
        share = passed / len(results)
        reason = f"{passed} of {len(results)} members pass"
        return Outcome(passed=share >= self.threshold, score=share, reason=reason)


class JoinedByProgram(FrozenStruct, frozen=True):
    """A program that gets the results of the members."""

    command: Command

    def outcome(self, results: Sequence[CheckResult]) -> Outcome:
        """What the program makes of it."""
        return self.command.program.judge(self.command.programs, {"results": _rows(results)})


class _JoinedChecks(FrozenStruct, frozen=True, kw_only=True):
    """Several checks as one."""

    kind: ClassVar[str] = "composite"
    revision: ClassVar[int] = COMPOSITE_REVISION

    members: tuple[RubricCheck, ...]
    joined: Joined | None

    @property
    def runs_commands(self) -> bool:
        """Whether a program joins the members; members of their own say it themselves."""
        return isinstance(self.joined, JoinedByProgram)

    @property
    def needs_commands(self) -> bool:
        """A program that joins cannot be left out."""
        return self.runs_commands

    @property
    def command(self) -> Command | None:
        """The program that joins; members that are one tell it themselves."""
        return self.joined.command if isinstance(self.joined, JoinedByProgram) else None


class EvaluatorComposite(_JoinedChecks, frozen=True, kw_only=True):
    """Several checks as one, none of which asks a judge."""

    joined: Joined

    def check(self, trace: Trace, case: Case) -> Outcome:
        """Carry out every member, then join."""
        results = [check_result(entry, trace, case) for entry in self.members]
        return _without_score(results) or _kept(self.joined.outcome(_scored(results)), results)


class JudgedEvaluatorComposite(_JoinedChecks, frozen=True, kw_only=True):
    """Several checks as one, where members ask judges or a judge joins them."""

    joined: Joined | None = None
    judge: LlmJudge | None = None
    """The judge that joins, where it is one that does."""

    async def ask(self, trace: Trace, case: Case, asker: Asker) -> Outcome:
        """Carry out every member, then join."""
        results = await asyncio.gather(
            *(judged_result(entry, trace, case, asker) for entry in self.members)
        )
        missing = _without_score(results)
        if missing:
            return missing
        scored = _scored(results)
        if self.joined:
            return _kept(await in_thread(self.joined.outcome, scored), results)
        return _kept(await self._joined_by_judge(scored, trace, case, asker), results)

    async def _joined_by_judge(
        self, results: Sequence[CheckResult], trace: Trace, case: Case, asker: Asker
    ) -> Outcome:
        judge = self.judge
        assert judge is not None
        shown = material(trace, case)
        rows = json.dumps(_rows(results), ensure_ascii=False, indent=2)
        filled = shown.stating({"question": shown["input"], RESULTS: rows})
        text = f"{rows}\n{quotable(trace)}"
        return await judge.ask_about(filled, text, asker.within("aggregator"))


def _without_score(results: Sequence[CheckResult]) -> Outcome | None:
    """Why there is nothing to join: a member without a score spoils it, and none is too few."""
    details: JsonObject = {"results": inner_rows(tuple(results))}
    for one in results:
        if one.outcome.status == "unscored":
            reason = f"{one.check}: {one.outcome.reason}"
            return Outcome(status="unscored", reason=reason, details=details)
    if _scored(results):
        return None
    reasons = "; ".join(f"{one.check}: {one.outcome.reason}" for one in results)
    return Outcome(
        status="skipped", reason=reasons, details=details, is_unavailable=is_unavailable(results)
    )


def _scored(results: Sequence[CheckResult]) -> list[CheckResult]:
    return [one for one in results if one.outcome.status == "scored"]


def _kept(outcome: Outcome, results: Sequence[CheckResult]) -> Outcome:
    """The joined result with what it was joined from."""
    return replace(
        outcome,
        reason=f"{outcome.reason}{not_looked_at(results)}",
        details={**outcome.details, "results": inner_rows(tuple(results))},
        is_unavailable=is_unavailable(results),
    )


def _rows(results: Sequence[CheckResult]) -> JsonObject:
    """The results of the members by name, for programs and judges that combine them."""
    return {one.check: _row(one.outcome) for one in results}


def _row(outcome: Outcome) -> JsonObject:
    reason: list[JsonValue] = [outcome.reason]
    details = outcome.details
    return {
        "score": outcome.score,
        "verdict": "pass" if outcome.passed else "fail",
        "hits": details.get("hits", reason if outcome.passed else []),
        "misses": details.get("misses", [] if outcome.passed else reason),
        "reasoning": outcome.reason,
    }
