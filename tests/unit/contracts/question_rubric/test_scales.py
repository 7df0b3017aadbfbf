"""Scales as they are written."""

from __future__ import annotations

import pytest

from steelyard.contracts.question_rubric.scales import (
    read_scale,
    scale_problems,
    whole_number,
)
from steelyard.formats.schema import spoken
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Scale
from strategies.question_rubrics import problems, question, rubric, sound


@pytest.mark.parametrize(
    ("value", "scale"),
    [
        ("0-5", Scale(min=0, max=5)),
        ("1-10", Scale(min=1, max=10)),
        ("-2-2", Scale(min=-2, max=2)),
        ("-5--1", Scale(min=-5, max=-1)),
        ("-999999-999999", Scale(min=-999_999, max=999_999)),
        ({"min": 0, "max": 5}, Scale(min=0, max=5)),
        ({"min": 0, "max": 10, "step": 5}, Scale(min=0, max=10, step=5)),
        ({"min": 0.0, "max": 4.0, "step": 2.0}, Scale(min=0, max=4, step=2)),
        ({"min": -999_999, "max": 999_999}, Scale(min=-999_999, max=999_999)),
        (
            {"min": -999_999, "max": 999_999, "step": 1_999_998},
            Scale(min=-999_999, max=999_999, step=1_999_998),
        ),
        ({"min": 0, "max": 1, "x-unit": "p"}, Scale(min=0, max=1, extra={"x-unit": "p"})),
    ],
)
def test_a_scale_is_a_text_or_an_object(value: JsonValue, scale: Scale) -> None:
    """QR-07"""
    made = sound(rubric(scale=value)).scale

    assert made
    assert made == scale
    assert type(made.min) is int


@pytest.mark.parametrize(
    "value",
    [
        *("", "5", "0..5", "0–5", "0 - 5", " 0-5", "0-5\n", "٠-٥", "a-b", "0-", "-5", "0-1000000"),
        *(None, True, 5, 0.5, [], [0, 5]),
        {},
        {"min": 0},
        {"max": 5},
        {"min": "0", "max": 5},
        {"min": 0.5, "max": 5},
        {"min": False, "max": True},
        {"min": 0, "max": 5, "step": 0},
        {"min": 0, "max": 5, "step": None},
        {"min": 0, "max": 1_000_000},
        {"min": -1_000_000, "max": 0},
        {"min": 0, "max": 5, "step": 1_999_999},
        {"min": 0, "max": 10**4000},
    ],
)
def test_what_has_not_the_form_of_a_scale_is_refused(value: JsonValue) -> None:
    """QR-07"""
    assert read_scale(value) is None
    assert list(scale_problems(value, ())) == []
    (code, path), *_ = problems(rubric(scale=value))
    assert code in {"invalid_field_type", "value_out_of_range", "missing_required_field"}
    assert path.startswith("scale")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0-1", None),
        ("1-1", "scale must lead from a lower to a higher score, not from 1 to 1"),
        ("2-1", "scale must lead from a lower to a higher score, not from 2 to 1"),
        ({"min": 0, "max": 6, "step": 3}, None),
        ({"min": 0, "max": 6, "step": 6}, None),
        (
            {"min": 0, "max": 6, "step": 7},
            "scale.step must lead from 0 exactly to 6; steps of 7 end at 0",
        ),
        (
            {"min": 1, "max": 6, "step": 2},
            "scale.step must lead from 1 exactly to 6; steps of 2 end at 5",
        ),
    ],
)
def test_a_scale_leads_upwards_and_its_steps_to_its_end(
    value: JsonValue, message: str | None
) -> None:
    """QR-07"""
    found = [spoken(problem) for problem in scale_problems(value, ("scale",))]

    assert found == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("more", "own", "used"),
    [
        ({"scale": "0-3"}, {}, Scale(min=0, max=3)),
        ({"scale": "0-3"}, {"scale": "1-2"}, Scale(min=1, max=2)),
        ({}, {"scale": {"min": 0, "max": 9, "step": 3}}, Scale(min=0, max=9, step=3)),
    ],
)
def test_a_score_uses_its_own_scale_or_else_that_of_the_rubric(
    more: JsonObject, own: JsonObject, used: Scale
) -> None:
    """QR-08"""
    row = {name: value for name, value in question("score").items() if name != "scale"}

    assert sound(rubric({**row, **own}, **more)).questions[0].scale == used


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (4, 4),
        (4.0, 4),
        (-0.0, 0),
        (4.5, None),
        (True, None),
        (False, None),
        ("4", None),
        (None, None),
        ([4], None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_a_whole_number_is_an_integer_however_it_is_written(
    value: JsonValue, number: int | None
) -> None:
    """QR-21"""
    assert whole_number(value) == number
    assert type(whole_number(value)) is type(number)
