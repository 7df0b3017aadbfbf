"""Answers against their rubric."""

from __future__ import annotations

import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.question_rubric.answers import (
    By,
    answers_row,
    read_answers,
)
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Answers, QuestionRubric
from strategies.question_rubrics import (
    good_answers,
    json_values,
    odd_answers,
    question,
    rubric,
    rubrics,
    sound,
)

RUBRIC = sound(
    rubric(
        question("score", key="correctness", required=True),
        question("yes_no", key="is_relevant"),
        question("comment", key="summary", required=True),
        question("button_group", key="verdict", scope="turn", required=True),
        question("multi_select", key="tags", scope="turn", answeredByAuto=False, required=True),
        question("comment", key="note", scope="turn"),
    )
)
FREE = sound(
    rubric(
        question("score", key="correctness"),
        question("yes_no", key="is_relevant"),
        question("comment", key="summary"),
        question("button_group", key="verdict", scope="turn"),
        question("multi_select", key="tags", scope="turn", answeredByAuto=False),
    )
)
"""The same without anything that is owed."""
WHOLE: JsonObject = {
    "trace": {"correctness": 4, "is_relevant": 1, "summary": "Short."},
    "turns": {
        "turn_1": {"verdict": "a", "tags": ["b"]},
        "turn_2": {"verdict": "b", "tags": [], "note": "!"},
    },
}


def found(
    value: JsonValue, made: QuestionRubric = FREE, turns: int = 3, by: By = "person"
) -> list[tuple[str, str]]:
    """Code and path of what is wrong with answers."""
    findings = read_answers(value, made, turns=turns, by=by)[1]
    assert all(finding.is_error for finding in findings)
    return [(finding.code, finding.path) for finding in findings]


def said(value: JsonValue, by: By = "person") -> tuple[str, str | None]:
    """Message and hint of the one thing that is wrong with answers."""
    (finding,) = read_answers(value, FREE, turns=3, by=by)[1]
    return finding.message, finding.hint


def test_right_answers_are_kept() -> None:
    """QR-20, QR-30"""
    answers, findings = read_answers(WHOLE, RUBRIC, turns=2)

    assert findings == []
    assert answers == Answers(
        trace={"correctness": 4, "is_relevant": 1, "summary": "Short."},
        turns={
            1: {"verdict": "a", "tags": ("b",)},
            2: {"verdict": "b", "tags": (), "note": "!"},
        },
    )
    assert answers_row(answers) == WHOLE


@pytest.mark.parametrize(
    "value", [{}, {"trace": {}}, {"turns": {}}, {"turns": {"turn_1": {}, "turn_3": {}}}]
)
def test_both_parts_may_be_absent_or_empty(value: JsonObject) -> None:
    """QR-20"""
    assert read_answers(value, FREE, turns=3) == (Answers(), [])


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (None, [("invalid_field_type", "")]),
        ([], [("invalid_field_type", "")]),
        ("x", [("invalid_field_type", "")]),
        ({"trace": None}, [("invalid_field_type", "trace")]),
        ({"trace": []}, [("invalid_field_type", "trace")]),
        ({"turns": []}, [("invalid_field_type", "turns")]),
        ({"turns": {"turn_1": 4}}, [("invalid_field_type", "turns.turn_1")]),
        ({"Trace": {}}, [("unsupported_field", "Trace")]),
        ({"is_relevant": 1}, [("unsupported_field", "is_relevant")]),
    ],
)
def test_answers_are_objects_with_two_parts(
    value: JsonValue, wrong: list[tuple[str, str]]
) -> None:
    """QR-20"""
    assert found(value) == wrong


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Trace", "did you mean 'trace'?"),
        ("turn", "did you mean 'turns'?"),
        ("is_relevant", "put it under trace"),
        ("verdict", "put it under its turn, such as turns.turn_1"),
        ("something", None),
    ],
)
def test_another_part_is_told_where_it_may_belong(name: str, hint: str | None) -> None:
    """QR-20"""
    assert said({name: 1}) == (f"{name} is no part of answers, which are trace and turns", hint)


@pytest.mark.parametrize(
    ("key", "message", "hint"),
    [
        ("corectness", "is no question of this rubric", "did you mean 'correctness'?"),
        ("colour", "is no question of this rubric", None),
        (
            "verdict",
            "stands in the wrong place: it is asked about each turn",
            "put it under its turn, such as turns.turn_1",
        ),
    ],
)
def test_an_unknown_key_of_the_trace_is_refused(key: str, message: str, hint: str | None) -> None:
    """QR-26"""
    assert found({"trace": {key: 1}}) == [("unsupported_field", f"trace.{key}")]
    assert said({"trace": {key: 1}}) == (f"trace.{key} {message}", hint)


@pytest.mark.parametrize(
    ("key", "message", "hint"),
    [
        ("verdikt", "is no question of this rubric", "did you mean 'verdict'?"),
        (
            "correctness",
            "stands in the wrong place: it is asked about the whole trace",
            "put it under trace",
        ),
    ],
)
def test_an_unknown_key_of_a_turn_is_refused(key: str, message: str, hint: str) -> None:
    """QR-26"""
    value: JsonObject = {"turns": {"turn_2": {key: 1}}}

    assert found(value) == [("unsupported_field", f"turns.turn_2.{key}")]
    assert said(value) == (f"turns.turn_2.{key} {message}", hint)


@pytest.mark.parametrize(
    ("name", "turns", "code"),
    [
        ("turn_1", 1, None),
        ("turn_3", 3, None),
        ("turn_10", 10, None),
        ("turn_1", 0, "value_out_of_range"),
        ("turn_4", 3, "value_out_of_range"),
        ("turn_" + "9" * 5000, 3, "value_out_of_range"),
        ("turn_0", 3, "unsupported_field"),
        ("turn_01", 3, "unsupported_field"),
        ("turn_-1", 3, "unsupported_field"),
        ("turn_١", 3, "unsupported_field"),
        ("turn_1\n", 3, "unsupported_field"),
        ("turn-1", 3, "unsupported_field"),
        ("Turn_1", 3, "unsupported_field"),
        ("1", 3, "unsupported_field"),
        ("", 3, "unsupported_field"),
    ],
)
def test_a_turn_is_counted_from_1_and_exists(name: str, turns: int, code: str | None) -> None:
    """QR-27"""
    shown = name or "''"
    wrong = [(code, f"turns.{shown}")] if code else []

    assert found({"turns": {name: {}}}, turns=turns) == wrong


def test_a_turn_that_does_not_exist_is_told_how_many_there_are() -> None:
    """QR-27"""
    assert said({"turns": {"turn_4": {}}}) == (
        "turns.turn_4 does not exist: the trace has 3 assistant turn(s)",
        None,
    )
    assert said({"turns": {"turn4": {}}}) == (
        "turns.turn4 is no turn",
        "count the assistant turns from 1: turn_1, turn_2",
    )


def test_a_person_owes_every_required_question_and_in_every_turn() -> None:
    """QR-28"""
    assert found({}, RUBRIC, turns=2) == [
        ("missing_required_field", "trace.correctness"),
        ("missing_required_field", "trace.summary"),
        ("missing_required_field", "turns.turn_1.tags"),
        ("missing_required_field", "turns.turn_1.verdict"),
        ("missing_required_field", "turns.turn_2.tags"),
        ("missing_required_field", "turns.turn_2.verdict"),
    ]


def test_a_judge_owes_the_required_questions_that_judges_answer() -> None:
    """QR-29"""
    assert found({}, RUBRIC, turns=2, by="judge") == [
        ("missing_required_field", "trace.correctness"),
        ("missing_required_field", "turns.turn_1.verdict"),
        ("missing_required_field", "turns.turn_2.verdict"),
    ]


def test_without_turns_nothing_is_owed_about_them() -> None:
    """QR-28"""
    assert found({"trace": {"correctness": 1, "summary": "x"}}, RUBRIC, turns=0) == []


def test_a_judge_may_comment() -> None:
    """QR-29"""
    assert found({"trace": {"summary": "Because."}}, by="judge") == []


def test_a_judge_may_not_answer_what_is_asked_of_people() -> None:
    """QR-29"""
    value: JsonObject = {"turns": {"turn_1": {"tags": ["a"], "verdict": "a"}}}
    answers, _ = read_answers(value, FREE, turns=3, by="judge")

    assert said(value, "judge") == (
        "turns.turn_1.tags is answered by people alone",
        "the rubric says answeredByAuto: false",
    )
    assert answers.turns == {1: {"verdict": "a"}}
    assert found(value) == []


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000", "\ufeff"])
def test_a_blank_comment_is_no_answer(blank: str) -> None:
    """QR-25"""
    value: JsonObject = {"trace": {"summary": blank, "correctness": 1}}

    assert read_answers(value, FREE, turns=0)[0].trace == {"correctness": 1}
    assert found(value) == []
    assert found(value, RUBRIC, turns=0) == [("missing_required_field", "trace.summary")]


def test_a_wrong_answer_is_not_missing_as_well() -> None:
    assert found({"trace": {"correctness": 9, "summary": 1}}, RUBRIC, turns=0) == [
        ("value_out_of_range", "trace.correctness"),
        ("invalid_field_type", "trace.summary"),
    ]


def test_everything_is_told_and_what_is_right_is_kept() -> None:
    """QR-30"""
    value: JsonObject = {
        "turns": {
            "turn_9": {"verdict": "a"},
            "turn_3": {"tags": ["b", "x", "b"], "verdict": "b", "correctness": 1},
            "turn_2": {"verdict": True},
        },
        "trace": {"is_relevant": 0, "correctness": 6, "sumary": "x"},
    }
    answers, _ = read_answers(value, FREE, turns=3)

    assert answers == Answers(trace={"is_relevant": 0}, turns={3: {"verdict": "b"}})
    assert found(value) == [
        ("value_out_of_range", "trace.correctness"),
        ("unsupported_field", "trace.sumary"),
        ("invalid_field_type", "turns.turn_2.verdict"),
        ("unsupported_field", "turns.turn_3.correctness"),
        ("invalid_enum_value", "turns.turn_3.tags[1]"),
        ("value_out_of_range", "turns.turn_3.tags[2]"),
        ("value_out_of_range", "turns.turn_9"),
    ]


def test_answers_stand_in_the_order_of_the_rubric() -> None:
    """QR-30"""
    value: JsonObject = {
        "turns": {"turn_2": {"verdict": "a"}, "turn_1": {"tags": ["b", "a"], "verdict": "a"}},
        "trace": {"summary": "x", "is_relevant": 1, "correctness": 0},
    }
    answers, _ = read_answers(value, FREE, turns=2)

    assert list(answers.trace) == ["correctness", "is_relevant", "summary"]
    assert list(answers.turns) == [1, 2]
    assert list(answers.turns[1].items()) == [("verdict", "a"), ("tags", ("a", "b"))]


@given(json_values, rubrics, st.integers(0, 3), st.sampled_from(["person", "judge"]))
def test_no_value_is_too_odd_to_be_checked(
    value: JsonValue, made: QuestionRubric, turns: int, by: By
) -> None:
    """QR-30"""
    answers, _ = read_answers(value, made, turns=turns, by=by)

    assert isinstance(answers, Answers)


@given(st.data(), rubrics, st.integers(0, 3))
def test_good_answers_are_accepted_and_come_back(
    data: st.DataObject, made: QuestionRubric, turns: int
) -> None:
    def part(scope: str) -> JsonObject:
        asked = [one for one in made.questions if one.scope == scope]
        return {one.key: data.draw(good_answers(one)) for one in asked}

    value: JsonObject = {
        "trace": part("trace"),
        "turns": {f"turn_{number}": part("turn") for number in range(1, turns + 1)},
    }
    answers, findings = read_answers(value, made, turns=turns)

    assert findings == []
    row = json.loads(json.dumps(answers_row(answers)))
    assert read_answers(row, made, turns=turns) == (answers, [])


@given(st.data(), rubrics, st.integers(0, 2))
def test_what_is_kept_of_odd_answers_is_right(
    data: st.DataObject, made: QuestionRubric, turns: int
) -> None:
    """QR-30"""
    value = data.draw(odd_answers(made, turns))
    answers, _ = read_answers(value, made, turns=turns)
    again, findings = read_answers(answers_row(answers), made, turns=turns)

    assert again == answers
    assert {finding.code for finding in findings} <= {"missing_required_field"}


def test_types_of_the_row_are_those_of_json() -> None:
    answers = Answers(trace={"a": 1}, turns={2: {"b": ("x", "y"), "c": "z"}})

    assert answers_row(answers) == {
        "trace": {"a": 1},
        "turns": {"turn_2": {"b": ["x", "y"], "c": "z"}},
    }
    assert isinstance(cast(JsonObject, answers_row(answers)["turns"]), dict)
