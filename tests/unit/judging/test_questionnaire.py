"""The questions of a rubric, answered by a judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.judge_replies import TIMEOUT, by_item, deciding, shown
from fakes.scripted_judges import ScriptedAsker, a_case, a_judge
from steelyard.contracts.question_rubric.answers import answers_row, read_answers
from steelyard.judging.questionnaire import Questionnaire
from steelyard.model.judgement import JudgeCall
from steelyard.model.message import Message
from steelyard.model.outcome import Outcome
from steelyard.model.question import Answers, QuestionRubric
from steelyard.model.trace import Trace
from strategies.question_rubrics import good_answers, question, rubric, rubrics, sound

RUBRIC = sound(
    rubric(
        question("score", key="right", label="Is it right?", guidance="5 = fully.", required=True),
        question("yes_no", key="relevant", label="Is it relevant?"),
        question("multi_select", key="tags", label="What is wrong?"),
        question("comment", key="note", label="Note"),
        question("score", key="clear", label="Is the turn clear?", scope="turn"),
        question("button_group", key="verdict", label="This turn", scope="turn"),
        question("yes_no", key="polite", label="By people", answeredByAuto=False),
        guidance=["Be strict.", "5 is rare."],
    )
)
TRACE = Trace(
    messages=(
        Message(role="assistant", content="In which town?"),
        Message(role="user", content="In Rome."),
        Message(role="assistant", content="At nine."),
    )
)
GOOD: dict[str, Any] = {
    "right": 4,
    "relevant": 1,
    "tags": ["b", "a"],
    "clear": 5,
    "verdict": "a",
}


def review(
    asker: ScriptedAsker, asked: QuestionRubric = RUBRIC, trace: Trace = TRACE, **settings: Any
) -> Outcome:
    check = Questionnaire(rubric=asked, judge=a_judge("{{ rubric }} {{ context }}"), **settings)
    return asyncio.run(check.ask(trace, a_case(), asker))


def test_the_answers_have_the_shape_of_the_contract() -> None:
    found = review(by_item(GOOD))

    assert found.answers == Answers(
        trace={"right": 4, "relevant": 1, "tags": ("a", "b")},
        turns={1: {"clear": 5, "verdict": "a"}, 2: {"clear": 5, "verdict": "a"}},
    )
    assert found.score == pytest.approx((0.8 + 1 + 1) / 3)
    assert (found.passed, found.judge) == (True, "judge/short@1.0.0")
    assert found.reason == "mean of 3 question(s): right 0.8, relevant 1, clear 1; 7 of 7 answered"


def test_only_questions_for_judges_are_asked_once_a_trace_or_once_a_turn() -> None:
    asker = by_item(GOOD)
    review(asker)

    assert [(call.item, call.turn) for call in asker.calls] == [
        ("right", None),
        ("relevant", None),
        ("tags", None),
        ("clear", 1),
        ("verdict", 1),
        ("clear", 2),
        ("verdict", 2),
    ]


def test_a_question_is_asked_with_its_guidance_and_that_of_the_rubric() -> None:
    asker = by_item(GOOD)
    review(asker)
    first = shown(asker.calls[0])

    assert "Is it right?\n5 = fully." in first
    assert "Be strict.\n5 is rare." in first
    assert "Is it relevant?" not in first


def test_a_question_about_a_turn_comes_with_what_was_said_before() -> None:
    asker = by_item(GOOD)
    review(asker)
    turns = {call.turn: shown(call) for call in asker.calls if call.item == "clear"}

    assert "In Rome." in turns[2]
    assert "In Rome." not in turns[1]


def test_grouped_questions_take_a_call_for_the_trace_and_one_for_each_turn() -> None:
    asker = deciding(lambda _, key: GOOD[key])
    found = review(asker, is_grouped=True)

    assert [(call.item, call.turn) for call in asker.calls] == [(None, None), (None, 1), (None, 2)]
    assert found.answers == review(by_item(GOOD)).answers


def test_what_was_not_answered_is_left_out_and_told() -> None:
    def decide(call: JudgeCall, key: str) -> Any:
        if key == "relevant":
            return "cannot_judge"
        return TIMEOUT if (key, call.turn) == ("clear", 1) else GOOD[key]

    found = review(deciding(decide))

    assert found.answers
    assert found.answers.trace == {"right": 4, "tags": ("a", "b")}
    assert found.answers.turns == {1: {"verdict": "a"}, 2: {"clear": 5, "verdict": "a"}}
    assert (found.score, found.details["answered"], found.details["asked"]) == (0.9, 5, 7)
    assert (found.details["counted"], found.details["counting"]) == (2, 3)
    assert found.reason == (
        "mean of 2 question(s): right 0.8, clear 1; 5 of 7 answered, not: cannot_judge (1), "
        "timeout (1)"
    )


@pytest.mark.parametrize(("key", "turn"), [("right", None), ("clear", 2)])
def test_a_required_question_without_an_answer_leaves_no_score(key: str, turn: int | None) -> None:
    asked = sound(
        rubric(
            question("score", key="right", label="Is it right?", required=True),
            question("score", key="clear", label="Is it clear?", scope="turn", required=True),
            question("yes_no", key="polite", required=True, answeredByAuto=False),
        )
    )

    def decide(call: JudgeCall, asked: str) -> Any:
        return "cannot_judge" if (asked, call.turn) == (key, turn) else GOOD[asked]

    found = review(deciding(decide), asked)

    assert (found.status, found.score, found.passed) == ("unscored", None, None)
    assert found.reason.startswith(f'required, and not answered: "Is it {key}?"; 2 of 3 answered')
    assert found.answers is not None
    assert review(by_item(GOOD), asked).status == "scored"


def test_answers_without_any_that_counts_are_kept_and_unscored() -> None:
    asked = sound(rubric(question("score", key="right"), question("multi_select", key="tags")))
    found = review(by_item({"tags": []}), asked)

    assert (found.status, found.score, found.passed) == ("unscored", None, None)
    assert found.answers == Answers(trace={"tags": ()}, turns={})
    assert found.reason.startswith("no answer to a question that counts; 1 of 2 answered")


def test_a_rubric_in_which_nothing_counts_has_answers_and_no_score() -> None:
    asked = sound(rubric(question("single_select", key="why")))
    found = review(by_item({"why": "b"}), asked)

    assert (found.status, found.score) == ("skipped", None)
    assert found.answers == Answers(trace={"why": "b"})
    assert found.reason == "no question counts; 1 of 1 answered"


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (
            rubric(question("score", scope="turn")),
            "the questions are about turns, and the trace has none",
        ),
        (
            rubric(question("yes_no", answeredByAuto=False), question("comment", key="note")),
            "rubric/helpdesk-v1 has no question that judges answer",
        ),
    ],
)
def test_without_a_question_to_ask_the_check_is_skipped(asked: Any, reason: str) -> None:
    asker = by_item({})
    found = review(asker, sound(asked), Trace())

    assert (found.status, found.reason, asker.calls) == ("skipped", reason, [])


@pytest.mark.parametrize(
    ("scoring", "passed"),
    [
        ({}, False),
        ({"pass_threshold": 0.6}, True),
        ({"pass_threshold": 0.61}, False),
        ({"pass_threshold": 0}, True),
    ],
)
def test_the_rubric_says_what_passes(scoring: Any, passed: bool) -> None:
    asked = sound(rubric(question("score"), scoring=scoring))

    assert review(by_item({"q": 3}), asked).passed is passed


def test_a_question_for_people_that_counts_is_not_held_against_a_judge() -> None:
    asked = sound(
        rubric(
            question("score", key="right"),
            question("score", key="felt", answeredByAuto=False),
            scoring={"questions": {"felt": 1}},
        )
    )
    found = review(by_item({"right": 3}), asked)

    assert (found.status, found.reason) == ("skipped", "no question counts; 1 of 1 answered")


def test_the_details_name_every_question_and_turn() -> None:
    rows: Any = review(by_item(GOOD), samples=3, target="cheap").details["items"]

    assert [(row["item"], row["type"], row.get("turn")) for row in rows][2:4] == [
        ("tags", "multi_select", None),
        ("clear", "score", 1),
    ]
    assert (rows[0]["value"], rows[0]["asked"]) == (4, "Is it right?")
    assert (rows[0]["samples"], rows[0]["votes"]) == (3, {"4": 3})


@given(rubrics, st.integers(0, 3), st.booleans(), st.data())
def test_answers_of_a_judge_always_hold(
    asked: QuestionRubric, turns: int, is_grouped: bool, data: st.DataObject
) -> None:
    """Whatever a judge says: what is kept passes the check of the contract, in its order."""
    known = {one.key: one for one in asked.questions}
    pool: list[Any] = ["cannot_judge", TIMEOUT, None, "x", -1, 10**9, [], {}, 0.5, True]

    def decide(_call: JudgeCall, key: str) -> Any:
        return data.draw(st.one_of(good_answers(known[key]), st.sampled_from(pool)))

    trace = Trace(messages=tuple(Message(role="assistant", content="x") for _ in range(turns)))
    found = review(deciding(decide), asked, trace, is_grouped=is_grouped)
    answers = found.answers or Answers()
    read, findings = read_answers(answers_row(answers), asked, turns=turns, by="judge")

    assert read == answers
    assert {finding.code for finding in findings} <= {"missing_required_field"}
