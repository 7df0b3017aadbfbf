"""What the answers to a question rubric come to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.question_rubric.answers import read_answers
from steelyard.judging.question_scores import counting_questions, question_score
from steelyard.model.json_value import JsonObject
from steelyard.model.question import Answers
from strategies.question_rubrics import good_answers, question, rubric, rubrics, sound

SCORES = [
    question("score", key="right", scale="0-5"),
    question("score", key="effort", scale={"min": 10, "max": 110, "step": 50}),
    question("yes_no", key="relevant"),
    question("button_group", key="turn", scope="turn"),
    question("score", key="clear", scale="-2-2", scope="turn"),
    question("comment", key="note"),
]


def score(answers: Answers, **scoring: Any) -> float | None:
    declared: JsonObject = {"scoring": scoring} if scoring else {}
    return question_score(sound(rubric(*SCORES, **declared)), answers).value


@pytest.mark.parametrize(
    ("answers", "value"),
    [
        (Answers(trace={"right": 4}), 0.8),
        (Answers(trace={"right": 0}), 0.0),
        (Answers(trace={"effort": 60}), 0.5),
        (Answers(trace={"relevant": 1, "right": 0}), 0.5),
        (Answers(trace={"right": 4, "effort": 10, "relevant": 1}), 0.6),
        # a question about turns counts once, however many there are
        (Answers(turns={1: {"clear": 2}, 2: {"clear": 0}, 3: {"clear": -2}}), 0.5),
        (Answers(trace={"relevant": 1}, turns={1: {"clear": -2}, 2: {"clear": -2}}), 0.5),
        # neither an option nor a comment has a value
        (Answers(trace={"note": "Fine."}, turns={1: {"turn": "a"}}), None),
        (Answers(), None),
    ],
)
def test_without_a_scoring_every_value_counts_the_same(
    answers: Answers, value: float | None
) -> None:
    """QR-31"""
    assert score(answers) == (value if value is None else pytest.approx(value))


@pytest.mark.parametrize(
    ("scoring", "answers", "value"),
    [
        ({"questions": {"right": 3, "relevant": 1}}, {"right": 5, "relevant": 0}, 0.75),
        ({"questions": {"right": 3, "relevant": 1}}, {"right": 5}, 1.0),
        ({"questions": {"right": 3}}, {"relevant": 1}, None),
        # a negative weight: the lowest is the best
        ({"questions": {"effort": -1}}, {"effort": 10}, 1.0),
        ({"questions": {"right": 1, "effort": -3}}, {"right": 5, "effort": 110}, 0.25),
        ({"pass_threshold": 0.9}, {"right": 5, "relevant": 0}, 0.5),
    ],
)
def test_a_scoring_names_what_counts_and_how_much(
    scoring: Any, answers: dict[str, int], value: float | None
) -> None:
    """QR-32"""
    assert score(Answers(trace=answers), **scoring) == value


def test_an_option_counts_by_what_it_is_worth() -> None:
    """QR-33"""
    worth = {"turn": {"a": 1, "b": 0.25}}
    answers = Answers(trace={"right": 0}, turns={1: {"turn": "a"}, 2: {"turn": "b"}})

    assert score(answers, options=worth) == 0.3125
    assert score(answers, options=worth, questions={"turn": 2}) == 0.625
    assert score(answers, options=worth, questions={"turn": -2}) == 0.375


def test_what_counts_is_known_without_answers() -> None:
    asked = sound(rubric(*SCORES, scoring={"options": {"turn": {"a": 1, "b": 0}}}))
    found = question_score(asked, Answers(trace={"right": 1}))

    assert found.counting == ("right", "effort", "relevant", "turn", "clear")
    assert found.parts == {"right": 0.2}
    assert counting_questions(asked) == dict.fromkeys(found.counting, 1.0)


@given(rubrics, st.data())
def test_answers_that_hold_have_a_score_between_0_and_1(rubric: Any, data: st.DataObject) -> None:
    sheet: JsonObject = {
        one.key: data.draw(good_answers(one)) for one in rubric.questions if one.scope == "trace"
    }
    answers, _ = read_answers({"trace": sheet}, rubric, turns=1)
    found = question_score(rubric, answers)

    assert set(found.parts) <= set(found.counting)
    assert all(0 <= part <= 1 for part in found.parts.values())
    assert (found.value is None) == (not found.parts)
    assert found.value is None or 0 <= found.value <= 1
