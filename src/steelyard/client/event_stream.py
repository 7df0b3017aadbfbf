"""Server-sent events of a run: bytes to events, and connections that follow one another."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from steelyard.client.address import path_of
from steelyard.client.answers import not_steelyard
from steelyard.client.cancellation import current_cancellation
from steelyard.client.connections import ServerAnswer
from steelyard.client.http_requests import HttpRequest
from steelyard.client.remote import RemoteEvent
from steelyard.client.transport import Transport
from steelyard.errors import ServerUnreachableError, UnavailableError

_BLOCK = 16 * 1024
_MAX_EVENT = 1024 * 1024
_SILENCE_S = 60.0
"""A server sends a heartbeat every 15 seconds; after so many without one it is given up."""
_MAX_FAILURES = 8
"""Connections in sequence that bring no event: about half a minute."""


class EventReader:
    """Puts events together from the bytes of a stream."""

    def __init__(self) -> None:
        self._rest = b""
        self._fields: dict[str, str] = {}
        self._size = 0

    def feed(self, data: bytes) -> Iterator[RemoteEvent]:
        """The events that end within the data."""
        # A line may end with either character or both; the second of a pair may come later.
        *lines, self._rest = (self._rest + data).replace(b"\r\n", b"\n").split(b"\n")
        self._size += len(data)
        for line in lines:
            if line:
                self._note(line.decode("utf-8", "replace").removesuffix("\r"))
            else:
                event, self._fields, self._size = self._event(), {}, len(self._rest)
                if event:
                    yield event
        if self._size > _MAX_EVENT:
            raise ValueError(f"an event is larger than {_MAX_EVENT >> 20} MB")

    def _note(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data" and name in self._fields:
            value = f"{self._fields[name]}\n{value}"
        if name:
            self._fields[name] = value

    def _event(self) -> RemoteEvent | None:
        found = self._fields
        if "data" not in found or not found.get("id", "").isdecimal():
            return None
        try:
            data = msgspec.json.decode(found["data"], type=dict[str, object])
        except (msgspec.MsgspecError, RecursionError) as wrong:
            raise ValueError(f"the data of an event is not a JSON object: {wrong}") from None
        return RemoteEvent(id=int(found["id"]), kind=found.get("event", "message"), data=data)


def follow(transport: Transport, run_id: str, after: int = 0) -> Iterator[RemoteEvent]:
    """The events of a run until its end; each once, over as many connections as that takes."""
    failures, last, cancellation = 0, after, current_cancellation()
    while True:
        request = HttpRequest(
            path=path_of("runs", run_id, "events"),
            headers={"accept": "text/event-stream", "last-event-id": str(last)},
        )
        try:
            with transport.stream(request) as answer:
                for event in _events(answer, str(transport.address)):
                    # Whoever connects after the end gets it once more.
                    is_end = event.kind == "end"
                    if event.id > last or is_end:
                        failures, last = 0, event.id
                        yield event
                    if is_end:
                        return
        except ServerUnreachableError as error:
            cancellation.require()
            if error.is_lasting or failures >= _MAX_FAILURES:
                raise
        if failures >= _MAX_FAILURES:
            raise UnavailableError(f"{transport.address} ends the events of {run_id} too early")
        cancellation.sleep(transport.pause(failures))
        failures += 1


def _events(answer: ServerAnswer, where: str) -> Iterator[RemoteEvent]:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "text/event-stream":
        raise not_steelyard(where, f"its events are sent as '{kind}'")
    reader = EventReader()
    while data := answer.read(_BLOCK, within_s=_SILENCE_S):
        try:
            yield from reader.feed(data)
        except ValueError as wrong:
            raise not_steelyard(where, str(wrong)) from None
