"""What of a conversation a target cannot be sent, and the conversation without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from steelyard.model.json_value import Path
from steelyard.model.message import ImageBlock, Message, OtherBlock
from steelyard.model.tool_history import tool_history

IMAGES = "images"
TOOLS = "tools"
EVERYTHING = "everything"
NOTHING: frozenset[str] = frozenset()
"""Of a target that is sent texts alone."""
MODEL_CARRIES = frozenset((IMAGES, TOOLS))
"""What the protocols of models have a form for."""


class Unsent(NamedTuple):
    """A part of a conversation that cannot be sent."""

    path: Path
    """Among the messages."""
    what: str


def has_more_than_text(messages: Sequence[Message]) -> bool:
    """Whether a conversation holds anything that a target may be unable to be sent."""
    for message in messages:
        if message.role == "tool" or message.tool_calls:
            return True
        if isinstance(message.content, tuple):
            for block in message.content:
                if isinstance(block, OtherBlock):
                    return True
    return False


def unsent(messages: Sequence[Message], carries: frozenset[str]) -> list[Unsent]:
    """Every part that a target which carries so much cannot be sent, in order."""
    if EVERYTHING in carries:
        return []
    found = [
        Unsent((index, "content", place), named(block))
        for index, message in enumerate(messages)
        if isinstance(message.content, tuple)
        for place, block in enumerate(message.content)
        if isinstance(block, OtherBlock) and not _is_carried(block, message, carries)
    ]
    found += _unpaired(messages) if TOOLS in carries else _tools(messages)
    return sorted(found, key=lambda one: cast(int, one.path[0]))


def without(messages: Sequence[Message], left_out: Sequence[Unsent]) -> tuple[Message, ...]:
    """The conversation without some parts of it."""
    paths = {one.path for one in left_out}
    return tuple(
        _without(message, index, paths)
        for index, message in enumerate(messages)
        if (index,) not in paths
    )


def asks_nothing(messages: Sequence[Message], left_out: Sequence[Unsent]) -> bool:
    """Whether without some parts nothing is left of what the user asks last."""
    paths = {one.path for one in left_out}
    asked = [index for index, message in enumerate(messages) if message.role == "user"]
    if not asked or not messages[asked[-1]].blocks:
        return False
    left = _without(messages[asked[-1]], asked[-1], paths).blocks
    return not any(isinstance(block, OtherBlock) or block.text.strip() for block in left)


def named(block: OtherBlock) -> str:
    """A block in words."""
    if isinstance(block, ImageBlock):
        return "an image"
    return f"a block of type '{block.data.get('type')}'"


def _is_carried(block: OtherBlock, message: Message, carries: frozenset[str]) -> bool:
    """Protocols have images in what the user says, and nowhere else."""
    return isinstance(block, ImageBlock) and IMAGES in carries and message.role == "user"


def _tools(messages: Sequence[Message]) -> Iterator[Unsent]:
    for index, message in enumerate(messages):
        if message.role == "tool":
            yield Unsent((index,), "the message of a tool")
        if message.tool_calls:
            yield Unsent((index, "tool_calls"), "tool calls")


def _unpaired(messages: Sequence[Message]) -> Iterator[Unsent]:
    """No protocol has a call without its result, or a result without its call."""
    history = tool_history(messages)
    for index, message in enumerate(messages):
        if message.tool_calls and message.role != "assistant":
            yield Unsent((index, "tool_calls"), f"tool calls of the {message.role}")
    for index in history.orphans:
        yield Unsent((index,), "the message of a tool without the call that it answers")
    for index, number in history.unanswered:
        yield Unsent((index, "tool_calls", number), "a tool call without its result")


def _without(message: Message, index: int, paths: set[Path]) -> Message:
    calls = () if (index, "tool_calls") in paths else message.tool_calls
    kept = tuple(
        call for place, call in enumerate(calls) if (index, "tool_calls", place) not in paths
    )
    content = message.content
    if isinstance(content, tuple):
        content = tuple(
            block for place, block in enumerate(content) if (index, "content", place) not in paths
        )
    return replace(message, content=content, tool_calls=kept)
