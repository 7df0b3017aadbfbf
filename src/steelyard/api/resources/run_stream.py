"""The events of a run as a stream."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio.to_thread
import msgspec
from starlette.responses import Response, StreamingResponse

from steelyard.api.access import is_still_admitted
from steelyard.api.call import Call
from steelyard.api.operation import Operation
from steelyard.engine.states import is_terminal
from steelyard.errors import InvalidError
from steelyard.results.records import MAX_COUNT
from steelyard.results.runs import RunEvent
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.run_events import RunEvents, run_events

_LOOK_S = 0.25
_BEAT_S = 15.0
_ADMITTED_S = 2.0
"""How often the caller's credentials are looked at again."""
_AT_ONCE = 500
_MEDIA = "text/event-stream"
_HEADERS = {"cache-control": "no-cache", "x-accel-buffering": "no"}


class EventsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """From where on to stream."""

    after: int = 0
    """The id of the last event that is not wanted; `Last-Event-ID` wins."""


async def _stream(call: Call[EventsQuery, None]) -> Response:
    """Server-sent events: `state`, `progress` at most once a second, `warning`, and `end`.

    Their ids are whole numbers. A comment is sent every 15 seconds where nothing happens. The
    stream closes after `end`, when the server stops, and when the caller may no longer read.
    """
    store, after = call.project.store, _position(call)
    run = await anyio.to_thread.run_sync(store.find, call.path["run_id"])
    # An id beyond the last event is that of the end, or of another database.
    after = min(after, await anyio.to_thread.run_sync(store.last_event, run.run_id))
    if call.request.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_MEDIA)
    return StreamingResponse(_frames(call, run, after), headers=_HEADERS, media_type=_MEDIA)


def _position(call: Call[EventsQuery, None]) -> int:
    """The last event that the client has; a header of a browser that connects again wins."""
    text = call.request.headers.get("last-event-id")
    if text is None:
        after = call.query.after
    elif text.isdecimal() and len(text) < len(str(MAX_COUNT)):
        after = int(text)
    else:
        raise InvalidError("Last-Event-ID must be the id of an event: a whole number")
    if not 0 <= after <= MAX_COUNT:
        raise InvalidError(f"after must be a whole number from 0 to {MAX_COUNT}")
    return after


async def _frames(
    call: Call[EventsQuery, None], run: StoredRun, after: int
) -> AsyncGenerator[bytes]:
    """Events as they come, until the run has ended, the server stops or the caller must go."""
    store, stopping = call.project.store, call.served.stopping
    sent = admitted = time.monotonic()
    yield b": events of a run\n\n"
    while True:
        # The state first: whatever led to a final one is among the events that are read then.
        now = await anyio.to_thread.run_sync(store.find, run.run_id)
        events = await anyio.to_thread.run_sync(_events, store, run.run_id, after)
        for event in events:
            after = event.sequence
            yield _frame(after, event.kind, _data(event, run))
        if is_terminal(now.status) and len(events) < _AT_ONCE:
            yield _frame(after + 1, "end", {"run_id": run.run_id, "status": now.status})
            return
        moment = time.monotonic()
        if events:
            sent = moment
        elif moment - sent >= _BEAT_S:
            sent = moment
            yield b": heartbeat\n\n"
        if moment - admitted >= _ADMITTED_S:
            admitted = moment
            if not await is_still_admitted(call.served, EVENTS, call.request):
                return
        if await stopping.wait(_LOOK_S):
            return


def _events(store: RunEvents, run_id: str, after: int) -> Sequence[RunEvent]:
    return run_events(store, run_id, after, limit=_AT_ONCE)


def _data(event: RunEvent, run: StoredRun) -> dict[str, Any]:
    if event.kind != "progress":
        return {**event.data, "at": event.at}
    return {
        "total": run.plan.total_rows if run.plan else None,
        "done": event.data.get("rows", 0),
        "failed": event.data.get("failed_rows", 0),
        "retrying": event.data.get("retrying_rows", 0),
        "at": event.at,
    }


def _frame(sequence: int, kind: str, data: dict[str, Any]) -> bytes:
    # JSON has no line breaks, so that one line of data is enough.
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (
        sequence,
        kind.encode("ascii"),
        msgspec.json.encode(data),
    )


EVENTS: Operation[EventsQuery, None] = Operation(
    method="GET",
    path="/v1/runs/{run_id}/events",
    summary="Stream the events of a run until it has ended.",
    scope="runs:read",
    handle=_stream,
    query=EventsQuery,
    answers={200: _MEDIA},
    request_headers={"Last-Event-ID": "The id of the last event that was received."},
    errors=(404,),
)
OPERATIONS: tuple[Operation[Any, Any], ...] = (EVENTS,)
