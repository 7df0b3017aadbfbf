"""What was said in a record, as the chat messages that other tools know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.asked_text import shown
from steelyard.results.predictions import Prediction


class ChatToolCall(NamedTuple):
    """A call of a tool, with its result."""

    id: str
    name: str
    arguments: JsonObject
    output: str | None


class ChatMessage(NamedTuple):
    """A message with the calls that it makes."""

    role: str
    content: str
    calls: tuple[ChatToolCall, ...] = ()


def asked_messages(row: Prediction) -> list[ChatMessage]:
    """What the target was asked."""
    return [_message(one, "q") for one in _listed(row.request)]


def chat_messages(row: Prediction) -> list[ChatMessage]:
    """What the target was asked, and what it did."""
    said = [_message(one, str(place)) for place, one in enumerate(_listed(row.trace))]
    if not said and row.model_response is not None:
        said = [ChatMessage("assistant", row.model_response)]
    return [*asked_messages(row), *said]


def _listed(container: dict[str, Any] | None) -> list[dict[str, Any]]:
    return (container or {}).get("messages") or []


def _message(message: dict[str, Any], place: str) -> ChatMessage:
    content = message.get("content")
    text = "" if content is None else shown(content)
    return ChatMessage(message["role"], text, tuple(_calls(message, place)))


def _calls(message: dict[str, Any], place: str) -> Iterator[ChatToolCall]:
    for number, call in enumerate(message.get("tool_calls") or ()):
        output = call.get("output")
        yield ChatToolCall(
            id=str(call.get("id") or f"call-{place}-{number}"),
            name=str(call.get("tool")),
            arguments=_arguments(call.get("input")),
            output=None if output is None else shown(output),
        )


def _arguments(given: JsonValue) -> JsonObject:
    if given is None:
        return {}
    return given if isinstance(given, dict) else {"input": given}


def text_arguments(call: ChatToolCall) -> dict[str, str]:
    """The arguments of a call, each as a text."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in call.arguments.items()
    }
