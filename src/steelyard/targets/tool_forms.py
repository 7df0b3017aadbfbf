"""`tools`: functions that a model may call, in the form that each protocol demands.

Whoever writes them as one protocol has them can use them with the others, too. Tools of another
kind, such as one that the endpoint runs itself, are sent as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.targets.target_settings import TargetSettings

_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


class _Function(NamedTuple):
    name: JsonValue
    parameters: JsonValue
    others: JsonObject
    """Its description, and whether calls are held to the schema."""


ToolForm: TypeAlias = Callable[[JsonObject], JsonObject]


def tools_of(given: TargetSettings) -> list[JsonObject]:
    """The setting; each function has a name of its own."""
    tools = cast(list[JsonObject], given.entry.extra.get("tools", []))
    names = set[str]()
    for index, tool in enumerate(tools):
        function = _function(tool)
        if function is None:
            continue
        if not isinstance(function.name, str) or not function.name:
            raise given.wrong(
                f"tools[{index}] has no 'name'; write {{name: …, description: …, parameters: …}}"
            )
        if function.name in names:
            raise given.wrong(f"tools[{index}]: there are two tools named '{function.name}'")
        names.add(function.name)
    return tools


def chat_tool(tool: JsonObject) -> JsonObject:
    """As chat completions have it."""
    function = _function(tool)
    if function is None:
        return tool
    inner = {"name": function.name, **function.others, "parameters": function.parameters}
    return {"type": "function", "function": inner}


def anthropic_tool(tool: JsonObject) -> JsonObject:
    """As Anthropic's messages have it."""
    function = _function(tool)
    if function is None:
        return tool
    return {"name": function.name, **function.others, "input_schema": function.parameters}


def responses_tool(tool: JsonObject) -> JsonObject:
    """As the Responses protocol has it, which would hold calls to every schema unless told."""
    function = _function(tool)
    if function is None:
        return tool
    others = {"strict": False, **function.others}
    return {"type": "function", "name": function.name, **others, "parameters": function.parameters}


def _function(tool: JsonObject) -> _Function | None:
    """The function that a tool is, in whichever form; None where it is another kind of tool."""
    if tool.get("type", "function") not in {"function", "custom"}:
        return None
    inner = tool.get("function")
    if isinstance(inner, dict):
        tool = inner
    elif tool.get("type") == "custom" and "input_schema" not in tool:
        return None  # a tool of OpenAI's that takes a text and no parameters
    parameters = tool.get("parameters", tool.get("input_schema", _NO_PARAMETERS))
    named = {"type", "name", "parameters", "input_schema"}
    others = {key: value for key, value in tool.items() if key not in named}
    return _Function(tool.get("name"), parameters, others)
