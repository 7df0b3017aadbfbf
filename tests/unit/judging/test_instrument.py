"""Who decides a check: known before the first call, whatever the trace."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakes.judge_replies import deciding
from fakes.scripted_judges import a_case, a_judge
from steelyard.judging.criteria import Criteria, stated_criteria
from steelyard.judging.instrument import asked_by, instrument_key, rule_of
from steelyard.judging.jury import Juror, Jury
from steelyard.judging.llm_judge import LlmJudge
from steelyard.judging.questionnaire import Questionnaire
from steelyard.judging.questions_asked import examples_of
from steelyard.judging.rubric_items import RubricItems
from steelyard.model.evaluator import RubricItem
from steelyard.model.message import Message
from steelyard.model.rubric import JudgedCheck, Rubric, RubricCheck
from steelyard.model.trace import Trace
from strategies.question_rubrics import question, rubric, sound

JUDGE = a_judge(score_type="binary")
OTHER = a_judge("Other: {{ output }}")
TRACE = Trace(
    messages=(
        Message(role="assistant", content="In which town?"),
        Message(role="user", content="In Rome."),
        Message(role="assistant", content="At nine."),
    )
)
QUESTIONS = sound(
    rubric(
        question("score", key="right", label="Is it right?"),
        question("yes_no", key="kind", label="Is it kind?"),
        question("score", key="clear", label="Is the turn clear?", scope="turn"),
    )
)
ITEMS = (
    RubricItem(id="a", description="Says nine."),
    RubricItem(id="b", description="Names the town."),
)
CHECKS: dict[str, JudgedCheck] = {
    "judge": LlmJudge(judge=JUDGE, samples=2),
    "jury": Jury(jurors=(Juror(judge=JUDGE), Juror(judge=OTHER, target="big"))),
    "criteria": Criteria(criteria=stated_criteria(["short", "right"]), judge=JUDGE),
    "grouped criteria": Criteria(
        criteria=stated_criteria(["short", "right"]), judge=JUDGE, is_grouped=True
    ),
    "questionnaire": Questionnaire(rubric=QUESTIONS, judge=JUDGE),
    "grouped questionnaire": Questionnaire(rubric=QUESTIONS, judge=JUDGE, is_grouped=True),
    "items": RubricItems(items=ITEMS, judge=JUDGE),
    "grouped items": RubricItems(items=ITEMS, judge=JUDGE, is_grouped=True),
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_is_asked_is_known_before(name: str) -> None:
    """The identities of a plan are those of the calls that are made, no more and no less."""
    check = CHECKS[name]
    asker = deciding(lambda _call, _key: 1)
    asyncio.run(check.ask(TRACE, a_case(), asker))
    made = {(call.judge.name, call.target, call.identity) for call in asker.calls}

    assert {(one.judge.name, one.target, one.identity) for one in asked_by(check)} == made


def test_a_check_that_asks_nobody_asks_nothing() -> None:
    assert list(asked_by(object())) == []


@pytest.mark.parametrize(
    ("check", "more", "rule"),
    [
        (LlmJudge(judge=JUDGE), {}, "llm_judge at 0.7"),
        (LlmJudge(judge=JUDGE, threshold=0.5), {"negate": True}, "not: llm_judge at 0.5"),
        (LlmJudge(judge=JUDGE, samples=3), {}, "llm_judge at 0.7 over 3 samples"),
        (
            LlmJudge(judge=JUDGE, wants_logprobs=True),
            {},
            "llm_judge at 0.7 by log probabilities",
        ),
        (CHECKS["jury"], {}, "jury (mean; weights 1, 1) at 0.7"),
        (
            Jury(jurors=(Juror(judge=JUDGE, weight=2, samples=3),), aggregation="majority"),
            {},
            "jury (majority; weights 2; samples 3) at 0.7",
        ),
        (CHECKS["criteria"], {}, "criteria (points_over_maximum) at 0.7"),
        (CHECKS["questionnaire"], {}, "questionnaire at 0.7"),
    ],
)
def test_a_rule_is_the_same_wherever_it_is_said(
    check: Any, more: dict[str, Any], rule: str
) -> None:
    assert rule_of(RubricCheck(id="c", check=check, **more)) == rule


@pytest.mark.parametrize(
    ("checks", "more", "rule"),
    [
        (1, {}, "llm_judge at 0.7"),
        (1, {"pass_threshold": 0.5}, "llm_judge at 0.7, rubric at 0.5"),
        (1, {"pass_threshold": 0.5, "combine": "all_pass"}, "llm_judge at 0.7"),
        (2, {"pass_threshold": 0.5}, "llm_judge at 0.7"),
    ],
)
def test_a_rubric_that_passes_its_only_check_at_another_threshold_is_part_of_the_rule(
    checks: int, more: dict[str, Any], rule: str
) -> None:
    entry = RubricCheck(id="c", check=LlmJudge(judge=JUDGE))
    rubric = Rubric(id="r", version="1.0.0", checks=(entry,) * checks, **more)

    assert rule_of(entry, rubric) == rule


def test_an_instrument_is_known_by_all_it_asks_and_its_rule() -> None:
    key = instrument_key(["b", "a", "b"], "llm_judge at 0.7")

    assert key == instrument_key(["a", "b"], "llm_judge at 0.7")
    assert key != instrument_key(["a"], "llm_judge at 0.7")
    assert key != instrument_key(["a", "b"], "llm_judge at 0.5")


def test_examples_are_shown_and_are_part_of_the_judge() -> None:
    """JD-14"""
    shown = a_judge(extra={"examples": [{"id": "q7", "text": "Q: When? A: At nine. Right."}]})
    asker = deciding(lambda _call, _key: 1)
    asyncio.run(LlmJudge(judge=shown).ask(TRACE, a_case(), asker))
    system = asker.calls[0].messages[0][1]
    (with_example,) = asked_by(LlmJudge(judge=shown))
    (without,) = asked_by(LlmJudge(judge=a_judge()))

    assert "Q: When? A: At nine. Right." in system
    assert with_example.identity != without.identity


@pytest.mark.parametrize("extra", [{}, {"examples": "none"}, {"examples": ["none"]}])
def test_a_judge_without_examples_shows_none(extra: dict[str, Any]) -> None:
    assert examples_of(a_judge(extra=extra)) == ()
