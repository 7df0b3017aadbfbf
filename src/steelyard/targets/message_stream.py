"""A message of Anthropic's protocol that arrives as a stream of pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.targets.error_codes import LATE, reported_error
from steelyard.targets.event_stream import EventStream, inner

_TEXTS = ("text", "thinking", "signature")
_INPUT = "partial_json"


def begins(event: JsonObject) -> bool:
    """Whether a piece has a text, a thought or a call in it."""
    if event.get("type") == "content_block_start":
        return inner(event, "content_block").get("type") == "tool_use"
    delta = inner(event, "delta")
    return event.get("type") == "content_block_delta" and any(
        delta.get(name) for name in ("text", "thinking", _INPUT)
    )


def assembled(events: Iterator[JsonObject]) -> JsonObject | None:
    """The message that the pieces make up; None where the last of them is missing."""
    made = _Message()
    for event in events:
        made.add(event)
    return made.whole()


class _Message:
    """What has arrived of one."""

    def __init__(self) -> None:
        self._answer: JsonObject = {}
        self._usage: JsonObject = {}
        self._blocks: dict[JsonValue, _Block] = {}
        self._is_whole = False

    def add(self, event: JsonObject) -> None:
        """Take in the next piece."""
        kind, index = event.get("type"), cast("int | None", event.get("index"))
        if kind == "error":
            raise reported_error(event.get("error"), LATE)
        if kind == "message_start":
            self._answer = inner(event, "message")
            self._count(inner(self._answer, "usage"))
        elif kind == "content_block_start":
            self._blocks[index] = _Block(inner(event, "content_block"))
        elif kind == "content_block_delta" and index in self._blocks:
            self._blocks[index].add(inner(event, "delta"))
        elif kind == "message_delta":
            self._answer.update(inner(event, "delta"))
            self._count(inner(event, "usage"))
        self._is_whole |= kind == "message_stop" or self._answer.get("stop_reason") is not None

    def whole(self) -> JsonObject | None:
        """The message, once its end is there."""
        if not self._is_whole:
            return None
        blocks: list[JsonValue] = [block.whole() for block in self._blocks.values()]
        counted: JsonObject = {"usage": self._usage} if self._usage else {}
        return {**self._answer, "content": blocks, **counted}

    def _count(self, usage: JsonObject) -> None:
        """Counts of later events are of the whole message."""
        self._usage.update({name: value for name, value in usage.items() if value is not None})


class _Block:
    """What has arrived of a block."""

    def __init__(self, start: JsonObject) -> None:
        self._start = start
        self._pieces: dict[str, list[str]] = {}
        self._citations: list[JsonValue] = []

    def add(self, delta: JsonObject) -> None:
        """Take in the next piece."""
        for name in (*_TEXTS, _INPUT):
            if isinstance(said := delta.get(name), str):
                self._pieces.setdefault(name, []).append(said)
        if "citation" in delta:
            self._citations.append(delta["citation"])

    def whole(self) -> JsonObject:
        """The block; what went into a call is JSON, if it arrived whole."""
        block = dict(self._start)
        texts = {name: "".join(pieces) for name, pieces in self._pieces.items()}
        if said := texts.pop(_INPUT, ""):
            block["input"] = _input(said)
        for name, added in texts.items():
            before = block.get(name)
            block[name] = f"{before}{added}" if isinstance(before, str) else added
        if self._citations:
            block["citations"] = self._citations
        return block


def _input(said: str) -> JsonValue:
    try:
        return parse_json(said.encode("utf-8"))
    except ParseError:
        return said


MESSAGE_STREAM = EventStream(begins=begins, assembled=assembled)
