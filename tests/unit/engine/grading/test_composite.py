"""`composite`: another rubric as one check."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from fakes.programs import ScriptedPrograms
from fakes.scripted_judges import ScriptedAsker, a_judge, answer, asker_saying
from steelyard.checks.command import Command
from steelyard.checks.cost import Cost
from steelyard.checks.equals import Equals
from steelyard.checks.latency import Latency
from steelyard.engine.grading.composite import Composite, JudgedComposite, composite
from steelyard.engine.grading.grading import grade, grade_judged
from steelyard.errors import TargetError
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import Rubric, RubricCheck, StatedCheck
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from strategies.traces import said

CASE = Case(id="a")
EQUALS = RubricCheck(id="same", check=Equals(value="yes"))
QUICK = RubricCheck(id="quick", check=Latency(max_ms=100))
JUDGED = RubricCheck(id="judged", check=LlmJudge(judge=a_judge()))


def inner(*checks: RubricCheck, threshold: float = 0.7) -> Rubric:
    return Rubric(id="inner", version="1.0.0", checks=checks, pass_threshold=threshold)


def outer(rubric: Rubric) -> Rubric:
    entry = RubricCheck(id="whole", check=composite(rubric), required=True)
    return Rubric(id="outer", version="1.0.0", checks=(entry,))


def judged(rubric: Rubric, asker: ScriptedAsker) -> Verdict:
    return asyncio.run(grade_judged(rubric, said("yes"), CASE, asker))


@pytest.mark.parametrize(
    ("response", "latency_ms", "score", "passed"),
    [("yes", 50, 1.0, True), ("yes", 500, 0.5, False), ("no", 500, 0.0, False)],
)
def test_score_and_pass_are_those_of_the_inner_rubric(
    response: str, latency_ms: float, score: float, passed: bool
) -> None:
    rubric = inner(EQUALS, QUICK)
    trace = said(response, latency_ms)
    outcome = Composite(rubric=rubric).check(trace, CASE)

    assert (outcome.score, outcome.passed) == (score, passed)
    assert outcome.reason == grade(rubric, trace, CASE).reason
    assert grade(outer(rubric), trace, CASE).passed is passed


def test_the_inner_results_are_in_the_details() -> None:
    details = Composite(rubric=inner(EQUALS, QUICK)).check(said("no"), CASE).details

    assert details["rubric"] == "rubric/inner@1.0.0"
    assert details["results"] == [
        {
            "check": "same",
            "kind": "equals",
            "score": 0.0,
            "passed": False,
            "status": "scored",
            "reason": "expected 'yes', got 'no'",
            "judge": None,
            "details": {},
        },
        {
            "check": "quick",
            "kind": "latency",
            "score": None,
            "passed": None,
            "status": "skipped",
            "reason": "the trace has no latency",
            "judge": None,
            "details": {},
        },
    ]


@pytest.mark.parametrize(
    ("check", "status"),
    [(QUICK, "skipped"), (RubricCheck(id="x", check=StatedCheck(kind="x")), "unscored")],
)
def test_without_a_score_inside_there_is_none_outside(check: RubricCheck, status: str) -> None:
    outcome = Composite(rubric=inner(check)).check(said("yes"), CASE)

    assert (outcome.status, outcome.score, outcome.passed) == (status, None, None)
    assert outcome.reason.startswith(f"{check.id}: ")


def test_an_unscored_check_inside_leaves_the_case_without_a_score() -> None:
    broken = RubricCheck(id="broken", check=StatedCheck(kind="x"))
    verdict = grade(outer(inner(EQUALS, broken)), said("yes"), CASE)

    assert (verdict.status, verdict.score) == ("evaluation_error", None)
    assert verdict.reason == "whole: broken: nothing here carries out x"


def test_a_rubric_that_asks_judges_makes_a_check_that_does() -> None:
    assert isinstance(composite(inner(EQUALS)), Composite)
    assert isinstance(composite(inner(EQUALS, JUDGED)), JudgedComposite)
    assert not outer(inner(EQUALS)).is_judged
    assert outer(inner(JUDGED)).is_judged


def test_judges_inside_are_asked_under_the_names_of_both() -> None:
    checks: list[str] = []

    @dataclass(frozen=True)
    class Noting:
        kind: ClassVar[str] = "noting"

        async def ask(self, trace: Trace, case: Case, asker: ScriptedAsker) -> Outcome:  # noqa: ARG002
            checks.append(asker.check)
            return Outcome.passing("noted")

    entry = RubricCheck(id="inside", check=Noting())  # type: ignore[arg-type]
    verdict = judged(outer(inner(entry)), asker_saying(answer(1)))

    assert verdict.passed
    assert checks == ["whole/inside"]


@pytest.mark.parametrize(("value", "passed"), [(1, True), (0.2, False)])
def test_what_judges_say_inside_is_the_score_outside(value: float, passed: bool) -> None:
    verdict = judged(outer(inner(EQUALS, JUDGED)), asker_saying(answer(value)))

    assert verdict.score == pytest.approx((1 + value) / 2)
    assert verdict.passed is passed


def test_a_judge_that_fails_inside_leaves_no_score_outside() -> None:
    asker = asker_saying(TargetError("timeout", "no answer in 60 s"))
    verdict = judged(outer(inner(EQUALS, JUDGED)), asker)

    assert (verdict.status, verdict.score) == ("evaluation_error", None)
    assert "timeout" in verdict.reason


def test_a_raw_score_comes_through_where_it_differs() -> None:
    @dataclass(frozen=True)
    class Negative:
        kind: ClassVar[str] = "negative"

        def check(self, trace: Trace, case: Case) -> Outcome:  # noqa: ARG002
            return Outcome(passed=False, score=0.0, raw_score=-0.5, reason="bad")

    entry = RubricCheck(id="n", check=Negative())

    assert Composite(rubric=inner(entry)).check(said("x"), CASE).raw_score == -0.5
    assert Composite(rubric=inner(EQUALS)).check(said("yes"), CASE).raw_score is None
    assert grade(outer(inner(entry)), said("x"), CASE).raw_score == -0.5


def test_what_checks_inside_need_is_known_outside() -> None:
    program = RubricCheck(id="p", check=Command(script="x", programs=ScriptedPrograms()))
    cost = RubricCheck(id="c", check=Cost(max_usd=1))
    plain, needy = outer(inner(EQUALS)), outer(inner(program, cost))

    assert (plain.runs_commands, plain.needs_commands, plain.needs_cost) == (False, False, False)
    assert needy.runs_commands
    assert needy.needs_commands
    assert needy.needs_cost
    assert [check.kind for check in needy.all_checks] == ["composite", "command", "cost"]


def test_programs_inside_run_beside_the_loop() -> None:
    programs = ScriptedPrograms()
    program = RubricCheck(id="p", check=Command(script="x", programs=programs))
    rubric = outer(inner(program))
    mixed = replace(rubric, checks=(*rubric.checks, JUDGED))

    assert judged(mixed, asker_saying(answer(1))).status == "evaluation_error"
    assert len(programs.runs) == 1
