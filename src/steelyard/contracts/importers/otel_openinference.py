"""Spans with the attributes of OpenInference, as the conventions of OpenTelemetry name them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from steelyard.contracts.importers.otel_spans import Span
from steelyard.contracts.importers.otel_verdicts import OPERATIONS as OF_VERDICTS
from steelyard.model.json_value import JsonObject, JsonValue

_KIND = "openinference.span.kind"
_OPERATIONS = {"LLM": "chat", "AGENT": "invoke_agent", "TOOL": "execute_tool"}
_SAME = {
    "llm.model_name": "gen_ai.request.model",
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "session.id": "gen_ai.conversation.id",
}
_OF_TOOL = {
    "tool.name": "gen_ai.tool.name",
    "tool_call.id": "gen_ai.tool.call.id",
    "tool_call.function.arguments": "gen_ai.tool.call.arguments",
    "input.value": "gen_ai.tool.call.arguments",
    "output.value": "gen_ai.tool.call.result",
}
_MESSAGE = re.compile(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.(.+)")
_CALL = re.compile(r"tool_calls\.(\d{1,6})\.tool_call\.(.+)")
_PART = re.compile(r"contents\.(\d{1,6})\.message_content\.(.+)")
_IMAGE = "image.image.url"
_TOLD = (("input", "input.value", "user"), ("output", "output.value", "assistant"))


def with_usual_names(span: Span) -> Span:
    """The span, with the attributes of OpenInference under the usual names as well.

    What a span says under a usual name itself stays as it is, but for the operation of a span
    that gives verdicts: a judge calls a model, and is none that answers.
    """
    kind = span.attributes.get(_KIND)
    if not isinstance(kind, str):
        return span
    given, operation = span.attributes, _OPERATIONS.get(kind.upper())
    verdict = OF_VERDICTS.get(kind.upper())
    named = _SAME | (_OF_TOOL if operation == "execute_tool" else {})
    found: JsonObject = {"gen_ai.operation.name": operation} if operation else {}
    for name, usual in named.items():
        if name in given:
            found.setdefault(usual, given[name])
    if operation in {"chat", "invoke_agent"}:
        for side, messages in _messages(given).items():
            found[f"gen_ai.{side}.messages"] = messages
    fixed: JsonObject = {"gen_ai.operation.name": verdict} if verdict else {}
    return replace(span, attributes={**found, **given, **fixed})


def _messages(given: JsonObject) -> dict[str, JsonValue]:
    """What went in and what came out; as one text each where messages are not told apart."""
    sides: dict[str, defaultdict[int, _Message]] = {
        "input": defaultdict(_Message),
        "output": defaultdict(_Message),
    }
    for name, value in given.items():
        part = _MESSAGE.fullmatch(name)
        if part:
            sides[part[1]][int(part[2])].set(part[3], value)
    told: dict[str, JsonValue] = {}
    for side, whole, role in _TOLD:
        found = sides[side]
        if found:
            told[side] = [found[place].row(role) for place in sorted(found)]
        elif given.get(whole):
            told[side] = [{"role": role, "content": given[whole]}]
    return told


class _Message:
    """One message, whose fields are attributes of their own."""

    def __init__(self) -> None:
        self._fields: JsonObject = {}
        self._calls: defaultdict[int, JsonObject] = defaultdict(dict)
        self._parts: defaultdict[int, JsonObject] = defaultdict(dict)

    def set(self, field: str, value: JsonValue) -> None:
        """One attribute."""
        call, part = _CALL.fullmatch(field), _PART.fullmatch(field)
        if call:
            self._calls[int(call[1])][call[2]] = value
        elif part:
            self._parts[int(part[1])][part[2]] = value
        else:
            self._fields[field] = value

    def row(self, role: str) -> JsonObject:
        """The message as others write it."""
        row: JsonObject = {
            name: self._fields[name]
            for name in ("content", "tool_call_id", "name")
            if name in self._fields
        }
        row["role"] = self._fields.get("role") or role
        if self._parts and "content" not in row:
            row["content"] = [_part(self._parts[place]) for place in sorted(self._parts)]
        if self._calls:
            row["tool_calls"] = [_call(self._calls[place]) for place in sorted(self._calls)]
        return row


def _part(given: JsonObject) -> JsonObject:
    """A part of a content; an image stands under its address."""
    if _IMAGE in given:
        return {"type": "image_url", "image_url": {"url": given[_IMAGE]}}
    return {"type": "text", **given}


def _call(given: JsonObject) -> JsonObject:
    function: JsonObject = {
        "name": given.get("function.name"),
        "arguments": given.get("function.arguments"),
    }
    return {"id": given.get("id"), "function": function}
