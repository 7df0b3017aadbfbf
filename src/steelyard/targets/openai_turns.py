"""Turns with images and tool calls, in the form of the chat-completions protocol."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ImageBlock
from steelyard.ports import ToolUse, Turn


def openai_messages(turns: Sequence[Turn]) -> list[JsonObject]:
    """The messages of a conversation; each result of a tool is one of its own."""
    return [message for turn in turns for message in _messages(turn)]


def _messages(turn: Turn) -> Iterator[JsonObject]:
    message: JsonObject = {"role": turn.role, "content": _content(turn)}
    if turn.tools:
        message["tool_calls"] = [_call(used) for used in turn.tools]
    yield message
    for used in turn.tools:
        yield {"role": "tool", "tool_call_id": used.id, "content": used.result}


def _content(turn: Turn) -> JsonValue:
    """A text alone as it is; parts where there is an image, and nothing beside calls alone."""
    if not any(isinstance(part, ImageBlock) for part in turn.parts):
        return cast("str | None", turn.parts[0]) if turn.parts else None
    return [
        image_part(part) if isinstance(part, ImageBlock) else {"type": "text", "text": part}
        for part in turn.parts
    ]


def image_part(image: ImageBlock) -> JsonObject:
    """An image by its address, or with its bytes in one."""
    shown: JsonObject = {"url": image.url or _data_url(image)}
    if image.detail:
        shown["detail"] = image.detail
    return {"type": "image_url", "image_url": shown}


def _data_url(image: ImageBlock) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.content).decode('ascii')}"


def _call(used: ToolUse) -> JsonObject:
    given = used.input
    arguments = given if isinstance(given, str) else json.dumps({} if given is None else given)
    function: JsonObject = {"name": used.tool, "arguments": arguments}
    return {"id": used.id, "type": "function", "function": function}
