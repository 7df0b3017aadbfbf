"""Tools that a conversation has called are defined."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.ports import ToolUse, Turn
from steelyard.targets.anthropic_turns import called_tools

TURNS = [
    Turn("assistant", (), (ToolUse("1", "a", {}, "x"), ToolUse("2", "b", {}, "y"))),
    Turn("assistant", (), (ToolUse("3", "a", {}, "z"),)),
]
A: JsonObject = {"name": "a", "input_schema": {"type": "object"}}
B: JsonObject = {"name": "b", "input_schema": {"type": "object"}}


def test_each_is_defined_once_and_none_may_be_called() -> None:
    assert called_tools(TURNS, {}) == {"tools": [A, B], "tool_choice": {"type": "none"}}


def test_definitions_of_the_project_stay() -> None:
    own: JsonObject = {"name": "a", "description": "Says a.", "input_schema": {"type": "object"}}

    assert called_tools(TURNS, {"tools": [own]}) == {"tools": [own, B]}
    assert called_tools(TURNS, {"tools": [own, B]}) == {}
    assert called_tools([], {}) == {}
