"""Answers that arrive as server-sent events, which become the answer in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from steelyard.errors import ParseError, TargetError
from steelyard.formats.encoding import BOM
from steelyard.formats.json_text import parse_json
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.ports import Clock
from steelyard.targets.error_codes import LATE, reported_error
from steelyard.targets.reply_json import reply_object, reply_value

_DONE = b"[DONE]"
"""What ends a stream of chat completions."""
_ERROR = "error"
"""What an event is called that says why the answer does not go on."""


class Event(NamedTuple):
    """One event of a stream."""

    name: str
    data: bytes


class EventLines:
    """Finds the events in a stream, wherever its bytes are cut."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        """The pieces of a line that has not ended."""
        self._data: list[bytes] = []
        """The lines of an event that has not ended."""
        self._name = ""
        """What it is called."""

    def fed(self, piece: bytes) -> Iterator[Event]:
        """Each event that ends within the next piece of the stream."""
        self._held.append(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return
        lines = b"".join(self._held).splitlines(keepends=True)
        # A line feed that belongs to a carriage return may be still to come.
        self._held = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        for line in lines:
            yield from self._read(line.rstrip(b"\r\n").removeprefix(BOM))

    def rest(self) -> Iterator[Event]:
        """An event that the end of the stream has ended."""
        yield from self.fed(b"\n\n")

    def _read(self, line: bytes) -> Iterator[Event]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif name == b"event":
                self._name = value.removeprefix(b" ").decode("utf-8", "replace")
            return
        if self._data or self._name == _ERROR:
            yield Event(self._name, b"\n".join(self._data))
        self._data, self._name = [], ""


class EventStream(FrozenStruct, frozen=True, kw_only=True):
    """How one protocol sends an answer as a stream of events."""

    begins: Callable[[JsonObject], bool]
    """Whether an event carries something that the model says, thinks or calls."""
    assembled: Callable[[Iterator[JsonObject]], JsonObject | None]
    """The answer in one piece, as it comes without a stream; None where its end is missing."""

    def answer(self, data: bytes) -> JsonObject:
        """The answer of a body; an endpoint that does not stream sends it in one piece."""
        events = list(_events(data))
        if not events:
            return reply_object(data)
        whole = self.assembled(iter(events))
        if whole is None:
            raise TargetError(
                "internal_error", f"the stream was cut off after {len(events):,} events"
            )
        return whole


def reading(
    trace_of: Callable[[JsonObject, float], Trace], stream: EventStream | None
) -> Callable[[bytes, float], Trace]:
    """What makes a trace of a body: of a stream, or of an answer in one piece."""
    answer = stream.answer if stream else reply_object
    return lambda data, latency_ms: trace_of(answer(data), latency_ms)


class FirstToken:
    """Notes when the first event came that carries something of the answer."""

    def __init__(self, stream: EventStream, clock: Clock) -> None:
        self._begins = stream.begins
        self._clock = clock
        self._lines: EventLines | None = EventLines()
        self.at: float | None = None

    def watch(self, piece: bytes) -> None:
        """Look at the next piece of a body."""
        if self._lines is None:
            return
        for found in self._lines.fed(piece):
            event = _quietly(found.data)
            if isinstance(event, dict) and self._begins(event):
                self.at, self._lines = self._clock.monotonic(), None
                return


def _events(data: bytes) -> Iterator[JsonObject]:
    """The events of a whole stream; one that is not ended counts where it is JSON all the same."""
    lines = EventLines()
    found = chain(
        ((event, reply_value) for event in lines.fed(data)),
        ((event, _quietly) for event in lines.rest()),
    )
    for (name, text), read in found:
        if name == _ERROR:
            raise _reported(text)
        event = None if text.strip() == _DONE else read(text)
        if isinstance(event, dict):
            yield event


def _reported(data: bytes) -> TargetError:
    """The error that an event of that name reports, in whatever shape."""
    event = _quietly(data)
    if isinstance(event, dict):
        event = event.get("error") or event
    said = data.decode("utf-8", "replace").strip() or "an event 'error' that says no more"
    return reported_error(event or said, LATE)


def _quietly(data: bytes) -> JsonValue:
    try:
        return parse_json(data)
    except ParseError:
        return None


def inner(event: JsonObject, name: str) -> JsonObject:
    """An object within an event; an empty one where there is none."""
    value = event.get(name)
    return value if isinstance(value, dict) else {}


def inner_list(event: JsonObject, name: str) -> list[JsonObject]:
    """The objects of a list within an event."""
    value = event.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
