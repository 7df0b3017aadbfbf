"""How a question rubric says that its answers become a score."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.contracts.question_rubric.scoring import read_scoring
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import QuestionScoring
from strategies.question_rubrics import HEAD, problems, question, read, rubric, sound

QUESTIONS = [
    question("score", key="right"),
    question("yes_no", key="relevant"),
    question("single_select", key="failure"),
    question("multi_select", key="tags"),
    question("comment", key="note"),
]


def scored(**scoring: JsonValue) -> JsonObject:
    return rubric(*QUESTIONS, scoring=scoring)


def test_a_scoring_is_read() -> None:
    """QR-32, QR-33"""
    stated: Any = {
        "questions": {"right": 2, "failure": -0.5},
        "options": {"failure": {"a": 1, "b": 0}},
        "pass_threshold": 0.8,
    }

    assert sound(scored(**stated)).scoring == QuestionScoring(**stated)


def test_a_rubric_without_a_scoring_has_none() -> None:
    """QR-31"""
    assert sound(rubric()).scoring is None
    assert sound(scored()).scoring == QuestionScoring()
    assert read_scoring(None) is None


def test_dimensions_are_questions_that_can_count() -> None:
    """QR-32"""
    row: JsonObject = {**HEAD, "dimensions": ["Tone & Clarity"]}

    assert problems({**row, "scoring": {"questions": {"tone_clarity": 1}}}) == []
    assert problems({**row, "scoring": {"questions": {"tone": 1}}}) == [
        ("unsupported_field", "scoring.questions.tone")
    ]
    assert problems({**row, "scoring": {"options": {"tone_clarity": {}}}}) == [
        ("unsupported_field", "scoring.options.tone_clarity")
    ]


@pytest.mark.parametrize(
    ("scoring", "told"),
    [
        # a name that is not there
        ({"questions": {"rigth": 1}}, [("unsupported_field", "questions.rigth")]),
        ({"options": {"failures": {}}}, [("unsupported_field", "options.failures")]),
        ({"question": {"right": 1}}, [("unknown_field", "question")]),
        ({"passThreshold": 0.7}, [("unknown_field", "passThreshold")]),
        # a question without a value
        ({"questions": {"tags": 1}}, [("unsupported_field", "questions.tags")]),
        ({"questions": {"note": 1}}, [("unsupported_field", "questions.note")]),
        ({"questions": {"failure": 1}}, [("missing_required_field", "options.failure")]),
        ({"options": {"right": {"a": 1}}}, [("unsupported_field", "options.right")]),
        ({"options": {"tags": {"a": 1, "b": 0}}}, [("unsupported_field", "options.tags")]),
        # options that are not those of the question
        (
            {"options": {"failure": {"a": 1, "c": 0}}},
            [
                ("missing_required_field", "options.failure.b"),
                ("unsupported_field", "options.failure.c"),
            ],
        ),
        # numbers out of range, and what is no number
        ({"questions": {"right": 0}}, [("value_out_of_range", "questions.right")]),
        ({"questions": {"right": False}}, [("invalid_field_type", "questions.right")]),
        ({"questions": {"right": "1"}}, [("invalid_field_type", "questions.right")]),
        ({"questions": {}}, [("value_out_of_range", "questions")]),
        ({"questions": ["right"]}, [("invalid_field_type", "questions")]),
        ({"options": {"failure": 1}}, [("invalid_field_type", "options.failure")]),
        ({"options": [1]}, [("invalid_field_type", "options")]),
        (
            {"options": {"failure": {"a": 1.01, "b": -0.01}}},
            [
                ("value_out_of_range", "options.failure.a"),
                ("value_out_of_range", "options.failure.b"),
            ],
        ),
        ({"pass_threshold": 1.01}, [("value_out_of_range", "pass_threshold")]),
        ({"pass_threshold": -0.01}, [("value_out_of_range", "pass_threshold")]),
        ({"pass_threshold": "high"}, [("invalid_field_type", "pass_threshold")]),
    ],
)
def test_a_scoring_that_cannot_be_meant_is_refused(
    scoring: Any, told: list[tuple[str, str]]
) -> None:
    """QR-34"""
    assert problems(scored(**scoring)) == [(code, f"scoring.{path}") for code, path in told]


@pytest.mark.parametrize("threshold", [0, 1, 0.5])
def test_a_threshold_may_be_any_score(threshold: float) -> None:
    """QR-34"""
    assert problems(scored(pass_threshold=threshold)) == []


@pytest.mark.parametrize(
    ("scoring", "hint"),
    [
        ({"questions": {"rigth": 1}}, "did you mean 'right'?"),
        ({"questions": {"x": 1}}, "there are right, relevant, failure, tags, note"),
        ({"options": {"failure": {"a": 1, "b": 1, "other": 1}}}, "there are a, b"),
        ({"questions": {"right": 0}}, "leave the question out"),
    ],
)
def test_a_hint_says_what_would_be_right(scoring: Any, hint: str) -> None:
    """QR-34"""
    (finding,) = read(scored(**scoring))[1]

    assert finding.hint == hint


def test_a_misspelt_scoring_is_a_near_miss() -> None:
    """QR-15"""
    assert problems(rubric(scorring={})) == [("unknown_field", "scorring")]


@pytest.mark.parametrize("key", ["scale", "key", "version"])
def test_a_question_may_be_called_like_a_field(key: str) -> None:
    """QR-34"""
    row = rubric(question("yes_no", key=key), scoring={"questions": {key: "high"}})
    (finding,) = read(row)[1]

    assert (finding.code, finding.hint) == ("invalid_field_type", None)


@pytest.mark.parametrize("value", [1, [], "x", {"questions": 1}, {"scoring": {"questions": 1}}])
def test_a_scoring_of_any_shape_is_told(value: JsonValue) -> None:
    """QR-34"""
    row = {**rubric(), "scoring": value}

    assert problems(row)
    assert problems({**row, "questions": 5})


def test_questions_of_any_shape_do_no_harm() -> None:
    row = scored(options={"right": {"a": 1}})
    spoilt: Any = {**row, "questions": [5, {"key": 5}, {"key": "right", "type": "single_select"}]}

    assert ("unsupported_field", "scoring.options.right.a") in problems(spoilt)
