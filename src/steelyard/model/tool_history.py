"""Which result belongs to which tool call of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from steelyard.model.message import Message


@dataclass(slots=True)
class ToolHistory:
    """The tool calls of a conversation, by the place of their message and their own in it."""

    results: dict[tuple[int, int], int | None] = field(
        default_factory=dict[tuple[int, int], "int | None"]
    )
    """The tool's message that answers a call; None where the call has its output with it."""
    unanswered: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Calls without a result."""
    orphans: list[int] = field(default_factory=list[int])
    """Messages of tools without the call that they answer."""


def tool_history(messages: Sequence[Message]) -> ToolHistory:
    """Pair calls and results; a result stands with its call, or right behind its message."""
    history = ToolHistory()
    waiting: list[tuple[int, int]] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            call = _answered(messages, waiting, message)
            if call is None:
                history.orphans.append(index)
            else:
                waiting.remove(call)
                history.results[call] = index
        else:
            _close(messages, waiting, history)
            waiting = [(index, number) for number in range(len(message.tool_calls))]
    _close(messages, waiting, history)
    return history


def _answered(
    messages: Sequence[Message], waiting: list[tuple[int, int]], message: Message
) -> tuple[int, int] | None:
    """The call that a tool's message answers: by its id, by the tool's name, or the next one."""
    named = message.extra.get("tool_call_id")
    calls = {place: messages[place[0]].tool_calls[place[1]] for place in waiting}
    if named is not None:
        return next((place for place, call in calls.items() if call.id == named), None)
    by_name = [place for place, call in calls.items() if call.tool == message.name]
    return next(iter(by_name or waiting), None)


def _close(
    messages: Sequence[Message], waiting: list[tuple[int, int]], history: ToolHistory
) -> None:
    """What has no message of a tool by now has its output with it, or none at all."""
    for place in waiting:
        if messages[place[0]].tool_calls[place[1]].output is None:
            history.unanswered.append(place)
        else:
            history.results[place] = None
