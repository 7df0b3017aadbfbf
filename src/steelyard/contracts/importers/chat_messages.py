"""Messages as chat-completion clients write them, to messages of a trace."""

from __future__ import annotations

from steelyard.contracts.importers.conversation import tool_call
from steelyard.model.json_value import JsonObject, JsonValue

_ROLES = {"developer": "system", "function": "tool"}
_TEXTS = {"text", "input_text", "output_text"}


def trace_messages(entries: list[JsonValue]) -> list[JsonValue]:
    """Messages in the shape of a trace; what is in that shape already is left as it is.

    Calls lose their JSON in a text, and the result of a tool stands with its call.
    """
    made: list[JsonValue] = []
    calls: dict[str, JsonObject] = {}
    for entry in entries:
        message = trace_message(entry)
        if not isinstance(message, dict):
            made.append(message)
            continue
        call = calls.get(str(message.get("tool_call_id")))
        if message.get("role") == "tool" and call is not None and "output" not in call:
            call["output"] = message.get("content")
            continue
        made.append(message)
        listed = message.get("tool_calls")
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and "id" in one:
                calls[str(one["id"])] = one
    return made


def trace_message(entry: JsonValue) -> JsonValue:
    """One message; anything else as it is."""
    if not isinstance(entry, dict):
        return entry
    row = {name: value for name, value in entry.items() if not _is_blank(name, value)}
    role = row.get("role")
    if isinstance(role, str):
        row["role"] = _ROLES.get(role, role)
    if isinstance(row.get("content"), list):
        row["content"] = _content(row["content"])
    old = row.pop("function_call", None)
    calls = row.get("tool_calls")
    if not calls and isinstance(old, dict):
        single: JsonObject = {"function": old}
        calls = [single]
    if isinstance(calls, list):
        row["tool_calls"] = [_call(call) for call in calls]
    return row


def _is_blank(name: str, value: JsonValue) -> bool:
    """Whether a client wrote a field only because its class has it."""
    return value is None and name != "content"


def _call(call: JsonValue) -> JsonValue:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return call
    row = tool_call(function.get("name"), function.get("arguments"), call.get("id"))
    return {**row, "output": call["output"]} if "output" in call else row


def _content(content: JsonValue) -> JsonValue:
    parts = content if isinstance(content, list) else []
    blocks = [_block(part) for part in parts]
    texts = [block["value"] for block in blocks if isinstance(block, dict) and _is_text(block)]
    if blocks and len(texts) == len(blocks):
        return "\n".join(map(str, texts))
    return blocks


def _block(part: JsonValue) -> JsonValue:
    if isinstance(part, dict) and part.get("type") in _TEXTS and isinstance(part.get("text"), str):
        return {"type": "text", "value": part["text"]}
    return part


def _is_text(block: JsonObject) -> bool:
    return block.keys() == {"type", "value"} and block["type"] == "text"
