"""What was said in a span of a generative model, in every spelling the conventions have had."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.contracts.importers.conversation import (
    Conversation,
    as_objects,
    from_text,
    text_or_blocks,
    tool_call,
)
from steelyard.contracts.importers.otel_spans import Span
from steelyard.formats.json_fields import fields, items, list_field
from steelyard.model.json_value import JsonObject, JsonValue

_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d{1,9})\.(.+)")
_INDEXED_CALL = re.compile(r"tool_calls\.(\d{1,9})\.(.+)")
_MESSAGE_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message")
_DETAILS = "gen_ai.client.inference.operation.details"


class OtelMessage(NamedTuple):
    """The messages of one call: what went in, and what came out."""

    given: list[JsonObject]
    made: list[JsonObject]
    """The first choice."""
    choices: int


def messages_in(span: Span) -> OtelMessage:
    """The messages that a span carries, as the conventions write them; none where it has none."""
    attributes = dict(span.attributes)
    for event in span.events:
        if event.name == _DETAILS:
            attributes.update(event.attributes)
    for read in (_structured, _events, _indexed, _plain):
        given, made = read(attributes, span)
        if given or made:
            head = _instructions(attributes.get("gen_ai.system_instructions"))
            return OtelMessage([*head, *given], made[:1], len(made))
    return OtelMessage([], [], 0)


def add_message(conversation: Conversation, entry: JsonObject) -> None:
    """One message of any spelling, its parts sorted into content, calls and results."""
    role = str(entry.get("role") or "user")
    if isinstance(entry.get("parts"), list):
        _add_parts(conversation, role, list_field(entry, "parts"))
        return
    content = _content(entry.get("content"))
    call_id = entry.get("tool_call_id", entry.get("id") if role == "tool" else None)
    if role in {"tool", "function"}:
        conversation.answer(call_id, content, entry.get("name"))
        return
    calls = [_call(call) for call in as_objects(from_text(entry.get("tool_calls")))]
    conversation.add(role, content, calls)


def _structured(attributes: JsonObject, _span: Span) -> tuple[list[JsonObject], list[JsonObject]]:
    """`gen_ai.input.messages` and `gen_ai.output.messages`, the form since 1.37."""
    return (
        _objects(attributes.get("gen_ai.input.messages"), "user"),
        _objects(attributes.get("gen_ai.output.messages"), "assistant"),
    )


def _events(_attributes: JsonObject, span: Span) -> tuple[list[JsonObject], list[JsonObject]]:
    """An event for each message, and older ones with all of them as JSON."""
    given: list[JsonObject] = []
    made: list[JsonObject] = []
    for event in span.events:
        body = from_text(event.attributes.get("gen_ai.event.content"))
        row = {**event.attributes, **body} if isinstance(body, dict) else event.attributes
        found = _MESSAGE_EVENT.fullmatch(event.name)
        if found:
            given.append({"role": found[1], **_without_names(row)})
        elif event.name == "gen_ai.choice":
            message = from_text(row.get("message"))
            inner = message if isinstance(message, dict) else row
            made.append({"role": "assistant", **_without_names(inner)})
        elif event.name == "gen_ai.content.prompt":
            given.extend(_objects(row.get("gen_ai.prompt"), "user"))
        elif event.name == "gen_ai.content.completion":
            made.extend(_objects(row.get("gen_ai.completion"), "assistant"))
    return given, made


def _indexed(attributes: JsonObject, _span: Span) -> tuple[list[JsonObject], list[JsonObject]]:
    """`gen_ai.prompt.0.content` and the like, one attribute for each field."""
    found: dict[str, defaultdict[int, JsonObject]] = {
        "prompt": defaultdict(dict),
        "completion": defaultdict(dict),
    }
    for name, value in attributes.items():
        part = _INDEXED.fullmatch(name)
        if part:
            _set(found[part[1]][int(part[2])], part[3], value)
    given, made = (
        [{"role": role, **found[name][place]} for place in sorted(found[name])]
        for name, role in (("prompt", "user"), ("completion", "assistant"))
    )
    return given, made


def _set(message: JsonObject, field: str, value: JsonValue) -> None:
    """One field of an indexed message; those of tool calls are indexed themselves."""
    part = _INDEXED_CALL.fullmatch(field)
    if part is None:
        message[field] = value
        return
    calls = items(message.setdefault("tool_calls", []))
    while len(calls) <= int(part[1]) < 1000:
        calls.append({})
    if int(part[1]) < len(calls):
        fields(calls[int(part[1])])[part[2]] = value


def _plain(attributes: JsonObject, _span: Span) -> tuple[list[JsonObject], list[JsonObject]]:
    """`gen_ai.prompt` and `gen_ai.completion` as one text each, or as JSON."""
    return (
        _objects(attributes.get("gen_ai.prompt"), "user"),
        _objects(attributes.get("gen_ai.completion"), "assistant"),
    )


def _objects(value: JsonValue, role: str) -> list[JsonObject]:
    """Messages or parts, also where they are JSON in a text; other text is what a role says."""
    read = from_text(value)
    items: JsonValue = [read] if isinstance(read, dict) else read
    if isinstance(items, list) and items and all(_is_message(item) for item in items):
        return as_objects(items)
    if isinstance(value, str) and value and role:
        return [{"role": role, "content": value}]
    return []


def _is_message(item: JsonValue) -> bool:
    """Whether this is a message, a part or a tool call, and not an answer that is JSON."""
    known = ("role", "parts", "content", "type", "function")
    return isinstance(item, dict) and any(name in item for name in known)


def _without_names(row: JsonObject) -> JsonObject:
    return {name: value for name, value in row.items() if not name.startswith("gen_ai.")}


def _instructions(value: JsonValue) -> list[JsonObject]:
    """Instructions are parts without a message around them, or a text."""
    parts = from_text(value)
    if isinstance(parts, list) and parts:
        return [{"role": "system", "parts": parts}]
    return [{"role": "system", "content": value}] if value else []


def _add_parts(conversation: Conversation, role: str, parts: list[JsonValue]) -> None:
    blocks: list[JsonValue] = []
    calls: list[JsonObject] = []
    results: list[JsonObject] = []
    for part in parts:
        if not isinstance(part, dict):
            continue
        kind = part.get("type", "text")
        if kind == "tool_call":
            calls.append(_call(part))
        elif kind == "tool_call_response":
            results.append(part)
        elif kind == "text":
            blocks.append({"type": "text", "value": str(part.get("content") or "")})
        else:
            blocks.append(part)
    if blocks or calls or not results:
        conversation.add(role, text_or_blocks(blocks), calls)
    for result in results:
        output = next(
            (result[name] for name in ("response", "result", "content") if name in result), None
        )
        conversation.answer(result.get("id"), output, result.get("name"))


def _call(call: JsonObject) -> JsonObject:
    function = from_text(call.get("function"))
    named = function if isinstance(function, dict) else call
    return tool_call(named.get("name"), named.get("arguments"), call.get("id"))


def _content(content: JsonValue) -> JsonValue:
    read = from_text(content)
    if isinstance(read, list) and (read is content or all(_is_part(part) for part in read)):
        return text_or_blocks(list(_blocks(read)))
    return content if isinstance(content, str | dict) or content is None else str(content)


def _is_part(part: JsonValue) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str)


def _blocks(parts: list[JsonValue]) -> Iterator[JsonValue]:
    for part in parts:
        if isinstance(part, dict) and _is_part(part):
            text = part.get("text", part.get("content"))
            is_text = part["type"] == "text" and isinstance(text, str)
            yield {"type": "text", "value": text} if is_text else part
        else:
            yield {"type": "text", "value": part if isinstance(part, str) else str(part)}
