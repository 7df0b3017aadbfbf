"""Only what is declared is taken for a value."""

from __future__ import annotations

import pytest

from steelyard.judging.coercion import Read, read_value
from steelyard.judging.questions_asked import AnswerField
from steelyard.model.json_value import JsonValue

YES_NO = AnswerField(key="k", values=(0, 1), labels={0: "No", 1: "Yes"})
PASS = AnswerField(key="k", values=(0, 1), labels={0: "fail", 1: "pass"})
SCALE = AnswerField(key="k", kind="number", span=(1, 5))
EVEN = AnswerField(key="k", kind="number", span=(-4, 4), step=2)
SHARE = AnswerField(key="k", kind="number", span=(0, 1), step=0.05)
NUMBERS = AnswerField(key="k", values=(1, 2, 5))
LEVELS = AnswerField(key="k", values=("no", "Partly", "yes"), is_ordered=True)
SELECT = AnswerField(key="k", values=("a", "b", "c"), labels={"a": "One", "b": "Two", "c": "Two"})
MANY = AnswerField(key="k", kind="many", values=("a", "b", "c"), labels={"a": "One"})
TEXT = AnswerField(key="k", kind="text")
NONE = Read(None)


@pytest.mark.parametrize(
    ("field", "raw", "value"),
    [
        (YES_NO, 1, 1),
        (YES_NO, 0.0, 0),
        (SCALE, 1, 1),
        (SCALE, 5.0, 5),
        (EVEN, -4, -4),
        (SHARE, 0.35, 0.35),
        (SHARE, 0.87, 0.87),
        (SHARE, 1, 1),
        (NUMBERS, 5, 5),
        (LEVELS, "Partly", "Partly"),
        (SELECT, "b", "b"),
        (MANY, [], ()),
        (MANY, ["c", "a"], ("a", "c")),
        (TEXT, " free ", "free"),
        (SCALE, "cannot_judge", "cannot_judge"),
        (MANY, ["cannot_judge"], "cannot_judge"),
    ],
)
def test_a_value_is_taken_as_it_is(field: AnswerField, raw: JsonValue, value: object) -> None:
    assert read_value(field, raw) == Read(value)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("field", "raw", "value"),
    [
        (YES_NO, "Yes", 1),
        (YES_NO, " no. ", 0),
        (YES_NO, True, 1),
        (YES_NO, "false", 0),
        (YES_NO, "1", 1),
        (YES_NO, "1 (Yes)", 1),
        (PASS, "PASS", 1),
        (PASS, "yes", 1),
        (SCALE, "4", 4),
        (SCALE, "4.0", 4),
        (SCALE, "4/5", 4),
        (SCALE, "4 / 5", 4),
        (SHARE, "0.8", 0.8),
        (SHARE, "0.8/1", 0.8),
        (NUMBERS, "2/5", 2),
        (LEVELS, "partly", "Partly"),
        (LEVELS, "`YES`", "yes"),
        (SELECT, "one", "a"),
        (SELECT, '"a" (One)', "a"),
        (MANY, "a", ("a",)),
        (MANY, ["One", "b", "b"], ("a", "b")),
        (MANY, ["a", "cannot_judge"], "cannot_judge"),
        (SCALE, "Cannot judge", "cannot_judge"),
    ],
)
def test_a_declared_way_of_saying_it_is_taken(
    field: AnswerField, raw: JsonValue, value: object
) -> None:
    assert read_value(field, raw) == Read(value, is_coerced=True)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("field", "raw"),
    [
        (YES_NO, 2),
        (YES_NO, "maybe"),
        (YES_NO, "y"),
        (SCALE, True),
        (SCALE, 0),
        (SCALE, 6),
        (SCALE, 4.5),
        (SCALE, "4/10"),
        (SCALE, "80%"),
        (SCALE, "four"),
        (SCALE, "4 or 5"),
        (SCALE, "4 stars"),
        (SCALE, None),
        (SCALE, [4]),
        (SCALE, {"value": 4}),
        (SCALE, 10**400),
        (YES_NO, 10**400),
        (SCALE, float("inf")),
        (SCALE, float("nan")),
        (SCALE, ""),
        (SCALE, "4" * 2_000),
        (EVEN, 1),
        (SHARE, 1.01),
        (SHARE, -0.01),
        (SHARE, "4/5"),
        (NUMBERS, 3),
        (LEVELS, "yes and no"),
        (LEVELS, 2),
        (SELECT, "Two"),
        (SELECT, "d"),
        (MANY, ["a", "d"]),
        (MANY, [1]),
        (MANY, None),
        (TEXT, " "),
        (TEXT, 3),
    ],
)
def test_anything_else_is_none(field: AnswerField, raw: JsonValue) -> None:
    assert read_value(field, raw).value is None
