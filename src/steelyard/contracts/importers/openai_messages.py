"""Chat messages as OpenAI's protocols write them, to messages of eval cases."""

from __future__ import annotations

import json

from steelyard.contracts.importers.source_row import wrong
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ROLES

_ROLES = {**{role: role for role in ROLES}, "developer": "system", "function": "tool"}
_TEXTS = {"text", "input_text", "output_text"}


def messages_of(value: JsonValue) -> list[JsonObject]:
    """Chat messages, as eval cases write them; a text is what the user says."""
    if isinstance(value, str) and value.strip():
        return [{"role": "user", "content": value}]
    if not isinstance(value, list):
        return []
    messages = [_message(entry) for entry in value]
    return [message for message in messages if message]


def _message(entry: JsonValue) -> JsonObject:
    if not isinstance(entry, dict):
        raise wrong(f"a message must be an object, not {_shown(entry)}")
    role = _ROLES.get(str(entry.get("role")))
    if role is None:
        raise wrong(
            f"the role of a message must be {', '.join(_ROLES)}, not {entry.get('role')!r}"
        )
    content = content_of(entry.get("content"))
    calls = entry.get("tool_calls")
    row: JsonObject = {"role": role}
    if isinstance(entry.get("name"), str):
        row["name"] = entry["name"]
    if content or not calls:
        row["content"] = content
    if isinstance(calls, list) and calls:
        row["tool_calls"] = [_tool_call(call) for call in calls]
    return row if content or calls else {}


def _tool_call(call: JsonValue) -> JsonObject:
    """A call in the platform's form to one in ours."""
    given = call if isinstance(call, dict) else {}
    function = given.get("function")
    named = function if isinstance(function, dict) else given
    row: JsonObject = {"tool": str(named.get("name", "tool"))}
    if isinstance(given.get("id"), str):
        row = {"id": given["id"], **row}
    if "arguments" in named:
        row["input"] = named["arguments"]
    return row


def content_of(content: JsonValue) -> JsonValue:
    """A content as eval cases write it: a text, or blocks where it holds more than texts."""
    parts = content if isinstance(content, list) else []
    if all(isinstance(part, str) or _is_text(part) for part in parts):
        return text_of(content)
    return [_block(part) for part in parts]


def _is_text(part: JsonValue) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("text"), str):
        return False
    kind = part.get("type", "text")
    return isinstance(kind, str) and kind in _TEXTS


def _block(part: JsonValue) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "value": part}
    if isinstance(part, dict) and _is_text(part):
        return {"type": "text", "value": part["text"]}
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        raise wrong(f"a part of a message must be an object with a type, not {_shown(part)}")
    return part


def text_of(content: JsonValue) -> str:
    """The text of a content: itself, its parts, or its JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return json.dumps(content, ensure_ascii=False)


def asked_text(messages: list[JsonObject]) -> str:
    """All that messages say in words."""
    texts: list[str] = []
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        texts += [
            str(one.get("value", "")) if isinstance(one, dict) else str(one) for one in blocks
        ]
    return "\n".join(texts)


def _shown(value: JsonValue) -> str:
    return json.dumps(value)[:40]
