"""The events of a run arrive once each, in order, over as many connections as that takes."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress

import pytest

import steelyard
from servers.hostile import Script, hang_up, hostile, replied, sent
from steelyard.client.event_stream import EventReader
from steelyard.errors import InvalidError, UnavailableError

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"


def event(number: int, kind: str = "progress") -> bytes:
    return f'id: {number}\nevent: {kind}\ndata: {{"done": {number}}}\n\n'.encode()


def events(*parts: bytes) -> Script:
    return sent(HEAD, *parts, then=hang_up)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_put_together_from_pieces_of_any_size(size: int) -> None:
    text = (
        ": heartbeat\r\n\r\nid: 1\r\nevent: state\r\ndata: {\r\ndata: }\r\n\r\n"
        'retry: 5\n\nid:2\ndata:{"ü": 1}\n\ndata: {"no": "id"}\n\n'
    ).encode()
    reader = EventReader()
    pieces = [text[begin : begin + size] for begin in range(0, len(text), size)]
    found = [(one.id, one.kind, one.data) for piece in pieces for one in reader.feed(piece)]

    assert found == [(1, "state", {}), (2, "message", {"ü": 1})]


def test_an_event_without_end_is_refused() -> None:
    reader = EventReader()
    for _ in range(15):
        assert list(reader.feed(b"x" * 65536)) == []

    with pytest.raises(ValueError, match="larger than 1 MB"):
        list(reader.feed(b"x" * 131072))


def test_a_broken_stream_goes_on_after_the_last_event() -> None:
    first = events(b": hello\n\n", event(1), event(2), b"id: 3\nda")
    second = events(event(2), event(3), event(3, "end"), event(5))
    with hostile(first, second) as server:
        found = [one.id for one in steelyard.Client(server.url).events("run_1")]

        assert server.heads("last-event-id") == ["0", "2"]
    assert found == [1, 2, 3, 3]


def test_waiting_returns_the_run_after_its_end() -> None:
    run = {"run_id": "run_1", "status": "completed", "created_at": "2026"}
    with hostile(events(event(1, "end")), replied(json.dumps(run).encode())) as server:
        found = steelyard.Client(server.url).wait("run_1")

    assert found.is_finished


def test_waiting_ends_with_a_run_that_no_worker_can_go_on_with() -> None:
    run = {"run_id": "run_1", "status": "running", "created_at": "2026", "resumable": True}
    stopped = sent(HEAD, event(1, "warning"), then=lambda _: time.sleep(2))
    with hostile(stopped, replied(json.dumps(run).encode())) as server:
        found = steelyard.Client(server.url).wait("run_1")

    assert found.resumable


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (replied(b"<html>", kind="text/html"), "its events are sent as 'text/html'"),
        (events(b"id: 1\ndata: nonsense\n\n"), "not a JSON object"),
        (events(b"id: 1\ndata: [1]\n\n"), "not a JSON object"),
        (events(b"data: " + b"x" * (2 << 20)), "larger than 1 MB"),
    ],
)
def test_what_is_no_stream_of_events_is_named(script: Script, message: str) -> None:
    with hostile(script) as server, pytest.raises(InvalidError, match=message):
        list(steelyard.Client(server.url).events("run_1"))


@pytest.mark.parametrize("script", [hang_up, events(), events(b": heartbeat\n\n")])
def test_a_stream_that_brings_nothing_is_given_up(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.client.transport._BACKOFF_S", (0.001,))
    with hostile(script) as server:
        with pytest.raises(UnavailableError):
            list(steelyard.Client(server.url, retries=0).events("run_1"))

        assert len(server.requests) == 9


def test_an_async_caller_that_stops_waiting_ends_the_connection() -> None:
    async def follow(url: str) -> list[int]:
        found: list[int] = []
        async with steelyard.AsyncClient(url) as client:
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    async for one in client.events("run_1"):
                        found.append(one.id)  # noqa: PERF401 - what came before the end counts
        return found

    with hostile(sent(HEAD, event(1), then=lambda _: time.sleep(5))) as server:
        began = time.monotonic()
        found = asyncio.run(follow(server.url))

    assert found == [1]
    assert time.monotonic() - began < 2
