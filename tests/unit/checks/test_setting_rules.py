"""The settings of a kind by their types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from steelyard.checks.setting_rules import PORT, Rule, arguments_of, schema_of
from steelyard.errors import UsageError
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


@dataclass(frozen=True)
class TwoTypes:
    """A setting that may be a text or a number."""

    setting: str | int


@dataclass(frozen=True)
class ThreeTypes:
    """A setting that may be a text, a part or nothing."""

    setting: str | Part | None


@dataclass(frozen=True)
class NumberOrPart:
    """A setting that may be a number or a part."""

    setting: int | Part


@dataclass(frozen=True)
class Texts:
    """A setting that is a table of texts."""

    setting: dict[str, str]


@pytest.mark.parametrize("made", [TwoTypes, ThreeTypes, NumberOrPart, Texts])
def test_a_setting_that_no_rubric_can_state_is_refused(made: type) -> None:
    with pytest.raises(UsageError, match="a check's setting cannot be of type"):
        schema_of(made)
