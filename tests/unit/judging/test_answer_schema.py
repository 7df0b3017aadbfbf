"""One schema that every endpoint can be held to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from steelyard.judging.answer_schema import MOST_STEPS, answer_schema, offered, values_shown
from steelyard.judging.questions_asked import AnswerField

YES_NO = AnswerField(key="yes", values=(0, 1), labels={0: "No", 1: "Yes"})
SCALE = AnswerField(key="scale", kind="number", span=(1, 5))
EVEN = AnswerField(key="even", kind="number", span=(0, 10), step=2)
LONG = AnswerField(key="long", kind="number", span=(0, 100))
FRACTION = AnswerField(key="fraction", kind="number", span=(0, 1), step=0.05)
FINE = AnswerField(key="fine", kind="number", span=(0, 1), step=0.001)
ONE = AnswerField(key="one", values=("a", "b"), labels={"a": "Alpha"})
MANY = AnswerField(key="many", kind="many", values=("a", "b"))
TEXT = AnswerField(key="text", kind="text")
ALL = (YES_NO, SCALE, EVEN, LONG, FRACTION, FINE, ONE, MANY, TEXT)
PORTABLE = {"type", "properties", "required", "additionalProperties", "enum", "anyOf", "items"}


def value_schema(field: AnswerField) -> Any:
    schema: Any = answer_schema((field,))
    return schema["properties"]["answers"]["properties"][field.key]["properties"]["value"]


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema within a schema."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for part in [*inner, *([schema["items"]] if "items" in schema else [])]:
        yield from parts(part)


def test_it_uses_only_what_every_compiler_takes() -> None:
    for part in parts(answer_schema(ALL)):
        assert set(part) <= PORTABLE
        assert "null" not in str(part.get("type"))
        if part.get("type") == "object":
            assert part["required"] == list(part["properties"])
            assert part["additionalProperties"] is False


def test_a_judge_quotes_and_reasons_before_it_decides() -> None:
    schema: Any = answer_schema((YES_NO,))

    asked = schema["properties"]["answers"]["properties"]["yes"]["properties"]
    assert list(asked) == ["evidence", "reasoning", "value"]


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (YES_NO, {"type": "integer", "enum": [0, 1]}),
        (SCALE, {"type": "integer", "enum": [1, 2, 3, 4, 5]}),
        (EVEN, {"type": "integer", "enum": [0, 2, 4, 6, 8, 10]}),
        (LONG, {"type": "integer"}),
        (FINE, {"type": "number"}),
    ],
)
def test_numbers_are_enums_up_to_fifty_steps(field: AnswerField, schema: dict[str, Any]) -> None:
    cannot = {"type": "string", "enum": ["cannot_judge"]}

    assert value_schema(field) == {"anyOf": [schema, cannot]}


@pytest.mark.parametrize(("most", "is_enum"), [(MOST_STEPS, True), (MOST_STEPS + 1, False)])
def test_the_limit_of_an_enum(most: int, is_enum: bool) -> None:
    field = AnswerField(key="n", kind="number", span=(0, most))

    assert bool(offered(field)) is is_enum


def test_options_are_strings_and_may_be_several() -> None:
    assert value_schema(ONE) == {"type": "string", "enum": ["a", "b", "cannot_judge"]}
    assert value_schema(MANY) == {"type": "array", "items": value_schema(ONE)}
    assert value_schema(TEXT) == {"type": "string"}


def test_fractions_are_written_as_people_do() -> None:
    assert offered(FRACTION)[:5] == (0, 0.05, 0.1, 0.15, 0.2)
    assert offered(FRACTION)[-1] == 1
    assert len(offered(FRACTION)) == 21


@pytest.mark.parametrize(
    ("field", "value", "is_valid"),
    [
        (SCALE, 5, True),
        (SCALE, 6, False),
        (SCALE, None, False),
        (SCALE, "cannot_judge", True),
        (FRACTION, 0.35, True),
        (MANY, [], True),
        (MANY, ["c"], False),
    ],
)
def test_the_schema_holds_answers_to_the_field(
    field: AnswerField, value: Any, is_valid: bool
) -> None:
    parts = {"evidence": "", "reasoning": "", "value": value}

    reply = {"answers": {field.key: parts}}
    assert Draft202012Validator(answer_schema((field,))).is_valid(reply) is is_valid


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (YES_NO, 'one of 0 (No), 1 (Yes), or "cannot_judge"'),
        (SCALE, 'an integer from 1 to 5, or "cannot_judge"'),
        (EVEN, 'an integer from 0 to 10 in steps of 2, or "cannot_judge"'),
        (FRACTION, 'a number from 0 to 1 in steps of 0.05, or "cannot_judge"'),
        (ONE, 'one of "a" (Alpha), "b", or "cannot_judge"'),
        (MANY, 'a list of none, one or several of "a", "b"; or ["cannot_judge"]'),
        (TEXT, 'a text, or "cannot_judge"'),
    ],
)
def test_people_read_the_same(field: AnswerField, text: str) -> None:
    assert values_shown(field) == text


def test_a_scale_names_its_ends() -> None:
    field = AnswerField(key="n", kind="number", span=(0, 5), labels={0: "poor", 5: "excellent"})

    assert "from 0 (poor) to 5 (excellent)" in values_shown(field)


def test_options_come_in_any_order_and_scales_in_two() -> None:
    letters = AnswerField(key="k", values=tuple("abcd"))
    levels = AnswerField(key="k", values=tuple("abcd"), is_ordered=True)

    assert len({values_shown(letters, seed) for seed in range(300)}) == 24
    assert {values_shown(levels, seed)[7:25] for seed in range(40)} == {
        '"a", "b", "c", "d"'[:18],
        '"d", "c", "b", "a"'[:18],
    }


def test_a_seed_gives_one_order_for_ever() -> None:
    field = AnswerField(key="k", values=tuple("abcd"))

    assert values_shown(field, 7) == 'one of "d", "a", "c", "b", or "cannot_judge"'
