"""The settings of a kind by their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import pytest

from steelyard.checks.setting_rules import PORT, Rule, arguments_of, schema_of
from steelyard.errors import RequestError
from steelyard.model.json_value import Extra, JsonObject


@dataclass(frozen=True, kw_only=True)
class Part:
    """A setting with parts."""

    name: Annotated[str, Rule("Its name.")]
    size: Annotated[int, Rule("Its size.", {"minimum": 1})] = 1


@dataclass(frozen=True, kw_only=True)
class Made:
    """Settings of every sort."""

    text: str
    part: Part
    parts: tuple[Part | str, ...] = ()
    either: Annotated[Literal["a", "b"] | None, Rule("One of two.")] = None
    free: Extra | None = None
    noted: Annotated[int, "somebody else's note"] = 0
    around: object = field(default=None, metadata=PORT)
    kept: Any = field(default=None, init=False)


PART: JsonObject = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"title": "name", "type": "string", "description": "Its name."},
        "size": {"title": "size", "type": "integer", "description": "Its size.", "minimum": 1},
    },
    "unevaluatedProperties": {"deprecated": True},
}


def test_a_schema_states_types_limits_and_words() -> None:
    assert schema_of(Made) == {
        "required": ["text", "part"],
        "properties": {
            "text": {"type": "string"},
            "part": PART,
            "parts": {
                "type": "array",
                "minItems": 1,
                "items": {**PART, "type": ["string", "object"]},
            },
            "either": {"enum": ["a", "b"], "description": "One of two."},
            "free": {"type": "object"},
            "noted": {"type": "integer"},
        },
    }


def test_arguments_are_made_by_type() -> None:
    given = arguments_of(
        Made,
        {
            "text": "x",
            "part": {"name": "n", "further": 1},
            "parts": ["a", {"name": "b", "size": 2}],
            "free": {"a": [1]},
        },
    )

    assert Made(**given) == Made(  # type: ignore[arg-type]
        text="x", part=Part(name="n"), parts=("a", Part(name="b", size=2)), free={"a": [1]}
    )


@dataclass(frozen=True, kw_only=True)
class Either:
    """Settings that may be one thing or another."""

    words: str | tuple[str, ...]
    rule: Annotated[Literal["all", "none"] | tuple[str, ...], Rule("Which count.")] = "all"
    part: bool | Part | None = None
    args: Literal["any"] | Extra | None = None
    counts: Mapping[str, int] | None = None
    anything: str | int | bool = ""


def test_a_setting_may_be_of_several_types_of_json() -> None:
    words = {"type": "string"}
    several = {"type": ["string", "array"], "minItems": 1, "items": words}

    assert schema_of(Either)["properties"] == {
        "words": several,
        "rule": {
            **several,
            "if": {"type": "string"},
            "then": {"enum": ["all", "none"]},
            "description": "Which count.",
        },
        "part": {**PART, "type": ["boolean", "object"]},
        "args": {
            "type": ["string", "object"],
            "if": {"type": "string"},
            "then": {"enum": ["any"]},
        },
        "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
        "anything": {"type": ["string", "integer", "boolean"]},
    }


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"words": "a b"}, Either(words="a b")),
        ({"words": ["a"]}, Either(words=("a",))),
        ({"words": "a", "rule": ["b", "c"]}, Either(words="a", rule=("b", "c"))),
        ({"words": "a", "part": True}, Either(words="a", part=True)),
        ({"words": "a", "part": {"name": "n"}}, Either(words="a", part=Part(name="n"))),
        ({"words": "a", "args": {"b": [1]}}, Either(words="a", args={"b": [1]})),
        ({"words": "a", "counts": {"b": 2}}, Either(words="a", counts={"b": 2})),
    ],
)
def test_an_argument_is_made_by_the_type_that_its_value_has(
    settings: JsonObject, made: Either
) -> None:
    assert Either(**arguments_of(Either, settings)) == made  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Together:
    """Settings of which one is enough."""

    rules: ClassVar[Extra] = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}

    a: int | None = None
    b: int | None = None


def test_a_class_can_say_what_holds_for_several_settings_at_once() -> None:
    assert schema_of(Together) == {
        "required": [],
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    }


@dataclass(frozen=True)
class TwoNumbers:
    """A setting that may be a number or a number."""

    setting: float | int


@dataclass(frozen=True)
class TwoTexts:
    """A setting that may be a text or one of some texts."""

    setting: str | Literal["a"]


@dataclass(frozen=True)
class TwoObjects:
    """A setting that may be a part or any object."""

    setting: Part | Extra


@dataclass(frozen=True)
class Numbered:
    """A setting that is a table by number."""

    setting: Mapping[int, str]


@dataclass(frozen=True)
class Texts:
    """A setting that is a table that can be changed."""

    setting: dict[str, str]


@pytest.mark.parametrize("made", [TwoNumbers, TwoTexts, TwoObjects, Numbered, Texts])
def test_a_setting_that_no_rubric_can_state_is_refused(made: type) -> None:
    with pytest.raises(RequestError, match="a check's setting cannot be of type"):
        schema_of(made)
