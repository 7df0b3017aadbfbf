"""Answers that arrive as server-sent events, which become the answer in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

from steelyard.errors import ParseError, TargetError
from steelyard.formats.encoding import BOM
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.ports import Clock
from steelyard.targets.reply_json import reply_object, reply_value

_DONE = b"[DONE]"
"""What ends a stream of chat completions."""


class EventLines:
    """Finds the events in a stream, wherever its bytes are cut."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        """The pieces of a line that has not ended."""
        self._data: list[bytes] = []
        """The lines of an event that has not ended."""

    def fed(self, piece: bytes) -> Iterator[bytes]:
        """The data of each event that ends within the next piece of the stream."""
        self._held.append(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return
        lines = b"".join(self._held).splitlines(keepends=True)
        # A line feed that belongs to a carriage return may be still to come.
        self._held = [] if lines[-1].endswith(b"\n") else [lines.pop()]
        for line in lines:
            yield from self._read(line.rstrip(b"\r\n").removeprefix(BOM))

    def rest(self) -> Iterator[bytes]:
        """The data of an event that the end of the stream has ended."""
        yield from self.fed(b"\n\n")

    def _read(self, line: bytes) -> Iterator[bytes]:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
        elif self._data:
            yield b"\n".join(self._data)
            self._data = []


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStream:
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
        for data in self._lines.fed(piece):
            event = _quietly(data)
            if isinstance(event, dict) and self._begins(event):
                self.at, self._lines = self._clock.monotonic(), None
                return


def _events(data: bytes) -> Iterator[JsonObject]:
    """The events of a whole stream; one that is not ended counts where it is JSON all the same."""
    lines = EventLines()
    found = chain(
        ((text, reply_value) for text in lines.fed(data)),
        ((text, _quietly) for text in lines.rest()),
    )
    for text, read in found:
        event = None if text.strip() == _DONE else read(text)
        if isinstance(event, dict):
            yield event


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
