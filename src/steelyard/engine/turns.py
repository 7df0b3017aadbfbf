"""A conversation with images and tool calls, as the protocols of models have them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import TypeAlias

from steelyard.model.json_value import JsonValue
from steelyard.model.message import ImageBlock, Message
from steelyard.model.tool_history import ToolHistory, tool_history
from steelyard.ports import ToolUse, Turn

Parts: TypeAlias = Callable[[Message], tuple[str | ImageBlock, ...]]
# What every protocol takes for the id of a call.
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def turns_of(messages: Sequence[Message], system: str, parts_of: Parts) -> tuple[Turn, ...]:
    """The turns; leading system messages become one, and results stand with their calls."""
    leading = list(takewhile(lambda message: message.role == "system", messages))
    said = [system, *(_text(parts_of(message)) for message in leading)]
    opening = "\n\n".join(text for text in said if text)
    first = (Turn("system", (opening,)),) if opening else ()
    return (*first, *_turns(messages, len(leading), parts_of))


def _turns(messages: Sequence[Message], start: int, parts_of: Parts) -> Iterator[Turn]:
    history = tool_history(messages)
    for index, message in enumerate(messages):
        if index < start or message.role == "tool":
            continue
        used = tuple(_used(messages, index, history, parts_of))
        parts = tuple(part for part in parts_of(message) if part)
        if parts or used:
            yield Turn(message.role, parts, used)


def _used(
    messages: Sequence[Message], index: int, history: ToolHistory, parts_of: Parts
) -> Iterator[ToolUse]:
    """The calls of a message that have a result."""
    for number, call in enumerate(messages[index].tool_calls):
        if (index, number) not in history.results:
            continue
        answered = history.results[index, number]
        result = _json(call.output) if answered is None else _text(parts_of(messages[answered]))
        is_usable = call.id is not None and _ID.fullmatch(call.id)
        name = call.id if call.id and is_usable else f"call_{index}_{number}"
        yield ToolUse(name, call.tool, call.input, result)


def _text(parts: Sequence[str | ImageBlock]) -> str:
    return "\n\n".join(part for part in parts if isinstance(part, str) and part)


def _json(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
