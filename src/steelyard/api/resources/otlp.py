"""Spans over OpenTelemetry's protocol, with its own answers and errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio.to_thread
import msgspec
from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from starlette.requests import Request
from starlette.responses import Response

from steelyard.api.call import Call, NoQuery
from steelyard.api.operation import ErrorForm, Operation
from steelyard.api.request_body import unpacked_body
from steelyard.contracts.otlp.answers import Encoding, refused, taken
from steelyard.contracts.otlp.batch import batch_of
from steelyard.errors import InvalidError, ParseError
from steelyard.usecases.traces.receive_spans import ReceivedSpans, receive_spans

MAX_BATCH = 20 * 1024 * 1024
"""The most bytes of a batch, as it is sent and as it unpacks to."""
TRACE_SET = "x-steelyard-trace-set"
_MEDIA: dict[Encoding, str] = {
    "json": "application/json",
    "protobuf": "application/x-protobuf",
}
_ENCODINGS: dict[str, Encoding] = {media: encoding for encoding, media in _MEDIA.items()}
_RETRY_S = "5"
_AT_ONCE = 2
_READING: RunVar[CapacityLimiter] = RunVar("batches of spans")


class RpcStatus(msgspec.Struct, frozen=True):
    """`google.rpc.Status`, the body of every error."""

    code: int
    """The code of gRPC that belongs to the status of the answer."""
    message: str
    """What is wrong."""


async def _receive(call: Call[NoQuery, None]) -> Response:
    """The body is an `ExportTraceServiceRequest`, in JSON or in protobuf, which may be compressed
    with gzip; the answer has the same encoding. Spans that were sent before are not stored again.
    Spans that cannot be stored are counted in `partial_success`. An error that is no 429 or 503
    must not be sent again.
    """
    encoding = _encoding(call.request)
    if encoding is None:
        raise InvalidError(f"the content type must be {' or '.join(_ENCODINGS)}")
    data = await unpacked_body(call.request, MAX_BATCH)

    def work() -> ReceivedSpans:
        try:
            batch = batch_of(data, encoding)
        except ParseError as wrong:
            raise InvalidError(*wrong.args) from None
        named = call.request.headers.get(TRACE_SET)
        return receive_spans(call.project.trace_ports(), batch, named, caller=call.caller)

    received = await anyio.to_thread.run_sync(work, limiter=_limiter())
    body = taken(encoding, received.rejected, received.message)
    return Response(body, 200, media_type=_MEDIA[encoding])


def _limiter() -> CapacityLimiter:
    """Two batches are read at once: each takes many times its size in memory."""
    try:
        return _READING.get()
    except LookupError:
        _READING.set(CapacityLimiter(_AT_ONCE))
        return _READING.get()


def _encoding(request: Request) -> Encoding | None:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return _ENCODINGS.get(media)


def _write_error(
    request: Request, status: int, message: str, headers: Mapping[str, str]
) -> Response:
    """An error in the encoding of the request; in JSON where it has none that is known."""
    encoding = _encoding(request) or "json"
    waits = {"retry-after": _RETRY_S} if status == 503 else {}
    body = refused(encoding, status, message)
    return Response(body, status, {**waits, **headers}, _MEDIA[encoding])


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/otlp/v1/traces",
        summary="Receive spans over OTLP/HTTP.",
        scope="traces:write",
        handle=_receive,
        streamed={"application/json": dict[str, Any], "application/x-protobuf": None},
        request_headers={
            "X-Steelyard-Trace-Set": "The trace set of all spans of the batch.",
            "Content-Encoding": "`gzip` for a compressed body.",
        },
        answers={200: " ".join(_ENCODINGS)},
        error_form=ErrorForm(
            write=_write_error,
            content={"application/json": RpcStatus, "application/x-protobuf": None},
        ),
        max_body=MAX_BATCH,
    ),
)
