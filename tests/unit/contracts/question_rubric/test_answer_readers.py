"""One answer against its question."""

from __future__ import annotations

import pytest

from steelyard.contracts.question_rubric.answer_readers import ANSWER_READERS
from steelyard.formats.problem import Problem
from steelyard.formats.schema import spoken
from steelyard.model.json_value import JsonValue
from steelyard.model.question import Answer
from strategies.question_rubrics import question, rubric, sound

TEN: JsonValue = {"min": -10, "max": 10, "step": 5}
MANY: JsonValue = [{"value": f"v{number}", "label": f"Label {number}"} for number in range(10)]


def answered(
    value: JsonValue, kind: str, **settings: JsonValue
) -> tuple[Answer | None, list[Problem]]:
    """What becomes of an answer to a question of a type."""
    (one,) = sound(rubric(question(kind, **settings))).questions
    problems: list[Problem] = []
    return ANSWER_READERS[one.type](value, one, ("q",), problems), problems


def refused(value: JsonValue, kind: str, **settings: JsonValue) -> tuple[str, str]:
    """Code and message for an answer that is refused."""
    answer, (problem,) = answered(value, kind, **settings)
    assert answer is None
    return problem.code, spoken(problem)


@pytest.mark.parametrize(
    ("value", "scale", "stored"),
    [
        (0, "0-5", 0),
        (5, "0-5", 5),
        (4.0, "0-5", 4),
        (-10, TEN, -10),
        (-5, TEN, -5),
        (0, TEN, 0),
        (10.0, TEN, 10),
    ],
)
def test_a_score_on_the_scale_is_stored_as_an_integer(
    value: JsonValue, scale: JsonValue, stored: int
) -> None:
    """QR-21"""
    answer, problems = answered(value, "score", scale=scale)

    assert (answer, problems) == (stored, [])
    assert type(answer) is int


@pytest.mark.parametrize(
    ("value", "scale", "code", "message"),
    [
        (-1, "0-5", "value_out_of_range", "q must lie on the scale 0-5, not -1"),
        (6, "0-5", "value_out_of_range", "q must lie on the scale 0-5, not 6"),
        pytest.param(
            *(10**5000, "0-5", "value_out_of_range", "q must lie on the scale 0-5"), id="too long"
        ),
        (1e300, "0-5", "value_out_of_range", "q must lie on the scale 0-5"),
        (3, TEN, "value_out_of_range", "q must lie on the scale -10-10 in steps of 5, not 3"),
        (15, TEN, "value_out_of_range", "q must lie on the scale -10-10 in steps of 5, not 15"),
        (4.5, "0-5", "invalid_field_type", "q must be an integer"),
        ("4", "0-5", "invalid_field_type", "q must be an integer"),
        (True, "0-5", "invalid_field_type", "q must be an integer"),
        (False, "0-5", "invalid_field_type", "q must be an integer"),
        (None, "0-5", "invalid_field_type", "q must be an integer"),
        ([4], "0-5", "invalid_field_type", "q must be an integer"),
        (float("nan"), "0-5", "invalid_field_type", "q must be an integer"),
    ],
)
def test_another_score_is_refused(
    value: JsonValue, scale: JsonValue, code: str, message: str
) -> None:
    """QR-21"""
    assert refused(value, "score", scale=scale) == (code, message)


@pytest.mark.parametrize(("value", "stored"), [(0, 0), (1, 1), (0.0, 0), (1.0, 1)])
def test_yes_is_1_and_no_is_0(value: JsonValue, stored: int) -> None:
    """QR-22"""
    answer, problems = answered(value, "yes_no")

    assert (answer, problems) == (stored, [])
    assert type(answer) is int


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (True, "invalid_field_type"),
        (False, "invalid_field_type"),
        ("yes", "invalid_field_type"),
        ("1", "invalid_field_type"),
        (0.5, "invalid_field_type"),
        (None, "invalid_field_type"),
        (2, "value_out_of_range"),
        (-1, "value_out_of_range"),
    ],
)
def test_anything_else_is_neither_yes_nor_no(value: JsonValue, code: str) -> None:
    """QR-22"""
    _, (problem,) = answered(value, "yes_no")

    assert (problem.code, spoken(problem)) == (code, "q must be 1 or 0")
    assert problem.hint == "write 1 for yes and 0 for no"


@pytest.mark.parametrize("kind", ["single_select", "button_group"])
@pytest.mark.parametrize("value", ["a", "b"])
def test_an_option_is_chosen_by_its_value(kind: str, value: str) -> None:
    """QR-23"""
    assert answered(value, kind) == (value, [])


@pytest.mark.parametrize("kind", ["single_select", "button_group"])
@pytest.mark.parametrize(
    ("value", "code", "message", "hint"),
    [
        ("c", "invalid_enum_value", "q must be a or b, not 'c'", "did you mean 'a'?"),
        ("far off", "invalid_enum_value", "q must be a or b, not 'far off'", None),
        (
            "first",
            "invalid_enum_value",
            "q must be a or b, not 'first'",
            "write the option's value 'a'",
        ),
        (
            "x" * 99,
            "invalid_enum_value",
            f"q must be a or b, not '{'x' * 36}...",
            None,
        ),
        (1, "invalid_field_type", "q must be a string", None),
        (["a"], "invalid_field_type", "q must be a string", None),
        (None, "invalid_field_type", "q must be a string", None),
    ],
)
def test_another_option_is_refused(
    kind: str, value: JsonValue, code: str, message: str, hint: str | None
) -> None:
    """QR-23"""
    _, (problem,) = answered(value, kind)

    assert (problem.code, spoken(problem), problem.hint) == (code, message, hint)


@pytest.mark.parametrize(
    ("options", "listed"),
    [
        (MANY, "v0, v1, v2, v3, v4, v5, v6, v7 or 2 more"),
        ([{"value": "only", "label": "Only"}], "only"),
    ],
)
def test_the_options_are_listed_as_far_as_there_is_room(options: JsonValue, listed: str) -> None:
    """QR-23"""
    _, message = refused("something", "single_select", options=options)

    assert message == f"q must be {listed}, not 'something'"


@pytest.mark.parametrize(
    ("value", "stored"),
    [([], ()), (["a"], ("a",)), (["a", "b"], ("a", "b")), (["b", "a"], ("a", "b"))],
)
def test_several_options_are_stored_in_the_order_of_the_rubric(
    value: JsonValue, stored: tuple[str, ...]
) -> None:
    """QR-24"""
    assert answered(value, "multi_select") == (stored, [])


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("a", [("invalid_field_type", ("q",), "q must be an array")]),
        (None, [("invalid_field_type", ("q",), "q must be an array")]),
        ({"a": 1}, [("invalid_field_type", ("q",), "q must be an array")]),
        (["a", "a"], [("value_out_of_range", ("q", 1), "q[1] 'a' is chosen before")]),
        (["a", 1], [("invalid_field_type", ("q", 1), "q[1] must be a string")]),
        (
            ["z", "a", "z"],
            [
                ("invalid_enum_value", ("q", 0), "q[0] must be a or b, not 'z'"),
                ("invalid_enum_value", ("q", 2), "q[2] must be a or b, not 'z'"),
            ],
        ),
    ],
)
def test_each_wrong_option_of_several_is_told(
    value: JsonValue, found: list[tuple[str, tuple[str | int, ...], str]]
) -> None:
    """QR-24"""
    answer, problems = answered(value, "multi_select")

    assert answer is None
    assert [(problem.code, problem.path, spoken(problem)) for problem in problems] == found


@pytest.mark.parametrize("value", ["a", "", " b\tc\r\nd ", "{} é 語 \u2028", "e\u0301"])
def test_a_comment_is_kept_as_it_is(value: str) -> None:
    """QR-25"""
    assert answered(value, "comment") == (value, [])


@pytest.mark.parametrize(
    ("value", "code", "message"),
    [
        (1, "invalid_field_type", "q must be a string"),
        (None, "invalid_field_type", "q must be a string"),
        (["a"], "invalid_field_type", "q must be a string"),
        ("a\x00", "invalid_encoding", "q has a forbidden control character"),
        ("a\x85", "invalid_encoding", "q has a forbidden control character"),
        ("\ud800", "invalid_encoding", "q has an unpaired surrogate code point"),
    ],
)
def test_another_comment_is_refused(value: JsonValue, code: str, message: str) -> None:
    """QR-25"""
    assert refused(value, "comment") == (code, message)
