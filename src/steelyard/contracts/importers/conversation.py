"""A recorded conversation put together message by message, results with their tool calls."""

from __future__ import annotations

import json

from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ROLES

_ROLES = {
    **{role: role for role in ROLES},
    "developer": "system",
    "function": "tool",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}


class Conversation:
    """The messages of a trace as they are written."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self._calls: dict[str, JsonObject] = {}

    def add(self, role: str, content: JsonValue, calls: list[JsonObject] | None = None) -> None:
        """One message; a role that nobody knows is the user's."""
        row: JsonObject = {"role": _ROLES.get(role, "user")}
        if content not in (None, "", []) or not calls:
            row["content"] = content
        if calls:
            row["tool_calls"] = list(calls)
            self._calls.update({str(call["id"]): call for call in calls if "id" in call})
        self.messages.append(row)

    def answer(self, call_id: JsonValue, output: JsonValue, tool: JsonValue = None) -> None:
        """What a tool gave back: it stands with its call, or for itself where there is none."""
        call = self._calls.get(str(call_id))
        if call is not None:
            call.setdefault("output", output)
            return
        is_content = output is None or isinstance(output, str | dict)
        content = output if is_content else json.dumps(output, ensure_ascii=False)
        row: JsonObject = {"role": "tool", "content": content}
        if isinstance(tool, str):
            row["name"] = tool
        self.messages.append(row)

    def complete(self, call_id: JsonValue, given: JsonValue, output: JsonValue) -> None:
        """Fill in what is not known yet of a call."""
        call = self._calls.get(str(call_id))
        for name, value in (("input", given), ("output", output)):
            if call is not None and value is not None:
                call.setdefault(name, value)


def tool_call(name: JsonValue, given: JsonValue, call_id: JsonValue) -> JsonObject:
    """A tool call as it is written; arguments that are JSON in a text are read."""
    row: JsonObject = {"id": call_id} if isinstance(call_id, str) and call_id else {}
    row["tool"] = name if isinstance(name, str) else "tool"
    if given is not None:
        row["input"] = from_text(given)
    return row


def from_text(value: JsonValue) -> JsonValue:
    """A value that may be written as JSON in a text."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return parse_json(value.encode("utf-8", "surrogatepass"))
        except ParseError:
            return value
    return value


def text_or_blocks(blocks: list[JsonValue]) -> JsonValue:
    """Blocks as they are; a text alone where they are nothing but one text."""
    if not blocks:
        return None
    only = blocks[0]
    if len(blocks) == 1 and isinstance(only, dict) and only.get("type") == "text":
        return only.get("value")
    return blocks


def as_object(value: JsonValue) -> JsonObject:
    """An object; an empty one where the value is something else."""
    return value if isinstance(value, dict) else {}


def as_text(value: JsonValue, default: str = "") -> str:
    """A text; the default where the value is something else."""
    return value if isinstance(value, str) else default


def as_objects(value: JsonValue) -> list[JsonObject]:
    """The objects of a list, and nothing else that it holds."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
