"""Keys that are made of names, and rules that no schema can state."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.contracts.question_rubric.rules import dimension_key, plain_name, rubric_problems
from steelyard.model.json_value import JsonValue
from strategies.question_rubrics import HEAD, problems, question, rubric


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Correctness", "correctness"),
        ("Tone & Clarté", "tone_clarte"),
        ("  Use of  sources ", "use_of_sources"),
        ("3rd-party", "3rd_party"),
        ("_a__b_", "a_b"),
        ("Straße", "strasse"),
        ("ﬁne", "fine"),
        ("Å", "a"),
        ("Точность", "dimension_7"),
        ("质量", "dimension_7"),
        ("质量 QA", "qa"),
        ("2", "dimension_7"),
        ("!?", "dimension_7"),
    ],
)
def test_a_dimension_becomes_a_key(name: str, key: str) -> None:
    """QR-13"""
    assert dimension_key(name, 7) == key


@given(st.text(), st.sampled_from("-_"))
def test_a_plain_name_is_empty_or_right(text: str, joint: str) -> None:
    """QR-02, QR-04, QR-13"""
    assert re.fullmatch(f"([a-z0-9]+({joint}[a-z0-9]+)*)?", plain_name(text, joint))


@pytest.mark.parametrize(
    ("dimensions", "found"),
    [
        (["a"], []),
        (["a", "b"], []),
        (["a", "A"], [("duplicate_record_id", "dimensions[1]")]),
        (["a", "?", "A!"], [("duplicate_record_id", "dimensions[2]")]),
        (["质量", "速度"], []),
        (["质量", "Dimension 1"], [("duplicate_record_id", "dimensions[1]")]),
        ([], [("value_out_of_range", "dimensions")]),
        ([""], [("value_out_of_range", "dimensions[0]")]),
        ([7], [("invalid_field_type", "dimensions[0]")]),
        ("a", [("invalid_field_type", "dimensions")]),
        (None, [("invalid_field_type", "dimensions")]),
    ],
)
def test_dimensions_are_names_with_different_keys(
    dimensions: JsonValue, found: list[tuple[str, str]]
) -> None:
    """QR-13"""
    assert problems({**HEAD, "dimensions": dimensions}) == found


@pytest.mark.parametrize("value", [{**HEAD}, {**HEAD, "question": []}])
def test_without_questions_and_dimensions_there_is_nothing_to_ask(value: JsonValue) -> None:
    """QR-01"""
    assert ("missing_required_field", "questions") in problems(value)


def test_a_score_without_any_scale_is_told_what_to_do() -> None:
    """QR-08"""
    row = {name: value for name, value in question("score").items() if name != "scale"}
    (problem,) = rubric_problems(rubric(row))

    assert (problem.code, problem.path) == ("missing_required_field", ("questions", 0, "scale"))
    assert problem.hint == (
        'give the question a scale, such as {"min": 0, "max": 5}, or the rubric one'
    )


@pytest.mark.parametrize("scale", ["x", 7, None])
def test_a_broken_scale_of_the_rubric_is_told_once(scale: JsonValue) -> None:
    """QR-08"""
    row = {name: value for name, value in question("score").items() if name != "scale"}

    assert [path for _, path in problems(rubric(row, row | {"key": "b"}, scale=scale))] == [
        "scale"
    ]


def test_the_first_of_two_equal_keys_is_right() -> None:
    """QR-04"""
    twice = rubric(question(), question("comment", scope="turn"), question(key="b"), question())

    assert problems(twice) == [
        ("duplicate_record_id", "questions[1].key"),
        ("duplicate_record_id", "questions[3].key"),
    ]


def test_a_question_of_unknown_type_is_asked_nothing_more() -> None:
    """QR-05"""
    value = rubric(question("rating", scale="5-0", options=[]))

    assert problems(value) == [("invalid_enum_value", "questions[0].type")]
