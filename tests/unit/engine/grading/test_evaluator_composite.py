"""Composite evaluators."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from fakes.programs import ScriptedPrograms
from fakes.scripted_judges import Line, a_judge, answer, asker_saying
from steelyard.checks.command import Command
from steelyard.checks.equals import Equals
from steelyard.checks.latency import Latency
from steelyard.checks.programs import Ran
from steelyard.engine.grading.evaluator_composite import (
    EvaluatorComposite,
    JoinedByProgram,
    JudgedEvaluatorComposite,
    PassShare,
    WeightedMean,
)
from steelyard.engine.grading.prompt_judge import results_judge
from steelyard.errors import TargetError
from steelyard.judging.llm_judge import LlmJudge
from steelyard.model.case import Case
from steelyard.model.outcome import Outcome
from steelyard.model.rubric import RubricCheck, StatedCheck
from steelyard.targets.processes.programs import LocalPrograms
from strategies.traces import said

CASE = Case(id="a")
RIGHT = RubricCheck(id="right", check=Equals(value="yes"), weight=9)
WRONG = RubricCheck(id="wrong", check=Equals(value="no"))
SKIPPED = RubricCheck(id="skipped", check=Latency(max_ms=1))
BROKEN = RubricCheck(id="broken", check=StatedCheck(kind="x"))
JUDGED = RubricCheck(id="judged", check=LlmJudge(judge=a_judge()))
MEAN = WeightedMean({}, 0.7)


def plain(joined: object, *members: RubricCheck) -> Outcome:
    check = EvaluatorComposite(members=members, joined=joined)  # type: ignore[arg-type]
    return check.check(said("yes"), CASE)


def judged(check: JudgedEvaluatorComposite, *lines: Line) -> Outcome:
    return asyncio.run(check.ask(said("yes"), CASE, asker_saying(*lines)))


@pytest.mark.parametrize(
    ("joined", "members", "score", "passed"),
    [
        (MEAN, (RIGHT, WRONG), 0.5, False),
        (WeightedMean({}, 0.5), (RIGHT, WRONG), 0.5, True),
        (WeightedMean({"right": 3}, 0.7), (RIGHT, WRONG), 0.75, True),
        (WeightedMean({"right": 0, "wrong": 0}, 0.7), (RIGHT, WRONG), 0.0, False),
        (MEAN, (RIGHT, SKIPPED), 1.0, True),
        (PassShare(0.5), (RIGHT, WRONG), 0.5, True),
        (PassShare(0.51), (RIGHT, WRONG), 0.5, False),
        (PassShare(1), (RIGHT, SKIPPED), 1.0, True),
        (PassShare(0), (WRONG,), 0.0, True),
    ],
)
def test_members_are_joined_by_mean_or_share(
    joined: WeightedMean | PassShare,
    members: tuple[RubricCheck, ...],
    score: float,
    passed: bool,
) -> None:
    outcome = plain(joined, *members)

    assert (outcome.score, outcome.passed) == (score, passed)
    assert [row["check"] for row in outcome.details["results"]] == [  # type: ignore[index,union-attr]
        member.id for member in members
    ]


@pytest.mark.parametrize("joined", [MEAN, PassShare(0.1)])
def test_a_member_without_a_score_leaves_the_composite_without_one(
    joined: WeightedMean | PassShare,
) -> None:
    outcome = plain(joined, RIGHT, BROKEN)

    assert (outcome.status, outcome.score) == ("unscored", None)
    assert outcome.reason == "broken: nothing here carries out x"


def test_where_all_members_are_skipped_so_is_the_composite() -> None:
    outcome = plain(MEAN, SKIPPED, SKIPPED)

    assert outcome.status == "skipped"
    assert outcome.reason == (
        "skipped: the trace has no latency; skipped: the trace has no latency"
    )


def test_a_program_joins_what_the_members_found() -> None:
    programs = ScriptedPrograms([Ran(0, '{"score": 0.6, "verdict": "pass"}')])
    joined = JoinedByProgram(Command(script="join", programs=programs))
    outcome = plain(joined, RIGHT, WRONG, SKIPPED)

    assert (outcome.score, outcome.passed) == (0.6, True)
    assert json.loads(programs.runs[0].given) == {
        "results": {
            "right": {
                "score": 1.0,
                "verdict": "pass",
                "hits": ["equals 'yes'"],
                "misses": [],
                "reasoning": "equals 'yes'",
            },
            "wrong": {
                "score": 0.0,
                "verdict": "fail",
                "hits": [],
                "misses": ["expected 'no', got 'yes'"],
                "reasoning": "expected 'no', got 'yes'",
            },
        }
    }


def test_a_program_that_fails_leaves_no_score() -> None:
    joined = JoinedByProgram(Command(script="join", programs=ScriptedPrograms([Ran(1, "")])))

    assert plain(joined, RIGHT).status == "unscored"


JOIN = """\
import json, sys
results = json.load(sys.stdin)["results"]
print(json.dumps({"score": min(one["score"] for one in results.values())}))
"""


def test_a_real_program_joins(tmp_path: Path) -> None:
    (tmp_path / "join.py").write_text(JOIN, encoding="utf-8")
    command = Command(script=(sys.executable, "join.py"), programs=LocalPrograms(tmp_path))

    assert plain(JoinedByProgram(command), RIGHT, WRONG).score == 0


@pytest.mark.parametrize("joined", [MEAN, PassShare(0.7)])
def test_members_may_ask_judges(joined: WeightedMean | PassShare) -> None:
    check = JudgedEvaluatorComposite(members=(RIGHT, JUDGED), joined=joined)

    assert judged(check, answer(0)).score == 0.5
    assert judged(check, answer(1)).passed
    assert judged(check, TargetError("timeout", "late")).status == "unscored"


def test_a_judge_joins_what_the_members_found() -> None:
    judge = LlmJudge(judge=results_judge("all", None))
    check = JudgedEvaluatorComposite(members=(RIGHT, WRONG), judge=judge)
    asker = asker_saying(answer(0.9, reasoning="good enough"))
    outcome = asyncio.run(check.ask(said("yes"), CASE, asker))
    sent = asker.calls[0].messages[-1][1]

    assert (outcome.score, outcome.passed, outcome.reason) == (0.9, True, "good enough")
    assert "\"reasoning\": \"expected 'no', got 'yes'\"" in sent
    assert outcome.judge == judge.judge.name
    assert len(outcome.details["results"]) == 2  # type: ignore[arg-type]


def test_a_judge_that_joins_and_fails_leaves_no_score() -> None:
    judge = LlmJudge(judge=results_judge("all", None))
    check = JudgedEvaluatorComposite(members=(RIGHT,), judge=judge)

    assert judged(check, TargetError("timeout", "late")).status == "unscored"


def test_braces_in_what_members_found_stay_as_they_are() -> None:
    odd = RubricCheck(id="odd", check=Equals(value="{{output}} {{/x}}"))
    judge = LlmJudge(judge=results_judge("all", "Join: {{EVALUATOR_RESULTS_JSON}}"))
    asker = asker_saying(answer(1))
    check = JudgedEvaluatorComposite(members=(odd,), judge=judge)

    assert asyncio.run(check.ask(said("yes"), CASE, asker)).score == 1
    assert "{{output}} {{/x}}" in asker.calls[0].messages[-1][1]


def test_a_program_that_joins_needs_leave() -> None:
    joined = JoinedByProgram(Command(script="join", programs=ScriptedPrograms()))

    for check in (
        EvaluatorComposite(members=(RIGHT,), joined=joined),
        JudgedEvaluatorComposite(members=(JUDGED,), joined=joined),
    ):
        assert check.runs_commands
        assert check.needs_commands
    assert not EvaluatorComposite(members=(RIGHT,), joined=MEAN).needs_commands
    assert not JudgedEvaluatorComposite(members=(JUDGED,), joined=MEAN).runs_commands
