"""Calls to one HTTP endpoint, with an error code for every way in which they can fail."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from msgspec.structs import replace

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import TargetError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.trace import Served, Trace
from steelyard.ports import Clock
from steelyard.settings import METHOD, NO_RULES, TIMEOUT_S, RedactionRules
from steelyard.targets.error_codes import status_code
from steelyard.targets.event_stream import EventStream, FirstToken
from steelyard.targets.http_endpoint import MAX_BODY, HttpEndpoint, HttpReply, too_large
from steelyard.targets.reply_json import refusal_text
from steelyard.targets.routes import DIRECT, EndpointRoute

_ACCEPTED = "gzip, deflate"
_GZIP_OR_ZLIB = 47
_GZIP = 31
_RAW_DEFLATE = -15
_PIECE = 4096

_MAX_MESSAGE = 400


class HttpSettings(FrozenStruct, frozen=True, kw_only=True):
    """Where the endpoint is, and what goes with every request."""

    url: str
    headers: Mapping[str, str]
    """With the key, where there is one; names in small letters."""
    secrets: tuple[str, ...] = ()
    """What no message may show."""
    rules: RedactionRules = NO_RULES
    """What else none may."""
    timeout_s: float = TIMEOUT_S
    method: str = METHOD
    route: EndpointRoute = DIRECT
    """How connections to it are made."""


class HttpCalls:
    """Asks one endpoint; answers that come as a stream are timed up to the first token, too."""

    def __init__(
        self, settings: HttpSettings, clock: Clock, stream: EventStream | None = None
    ) -> None:
        self._stream = stream
        self._redact = Redactor.by(settings.rules, settings.secrets)
        self._clock = clock
        headers = {
            **settings.headers,
            "content-type": "application/json",
            # A packed stream would hide when its first token came.
            "accept-encoding": "identity" if stream else _ACCEPTED,
        }
        self._endpoint = HttpEndpoint(
            settings.url,
            headers,
            settings.timeout_s,
            method=settings.method,
            route=settings.route,
        )

    async def ask(
        self, body: bytes, read: Callable[[bytes, float], Trace], query: str = ""
    ) -> Trace:
        """What `read` makes of the body of the answer and its latency."""
        first = FirstToken(self._stream, self._clock) if self._stream else None
        started = self._clock.monotonic()
        reply = await self._reply(body, query, first)
        latency_ms = (self._clock.monotonic() - started) * 1000
        if reply.status // 100 != 2:
            raise self._refusal(reply)
        try:
            trace = read(reply.data, round(latency_ms, 3))
        except TargetError as error:
            raise self._error(error.code, str(error), reply) from None
        served = Served(reply.status, _request_id(reply))
        if first is None or first.at is None:
            return replace(trace, served=served)
        first_token_ms = round((first.at - started) * 1000, 3)
        return replace(trace, served=served, first_token_ms=first_token_ms)

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _reply(self, body: bytes, query: str, first: FirstToken | None) -> HttpReply:
        try:
            reply = await self._endpoint.send(body, query, first and first.watch)
        except TargetError as error:
            error.args = (self._shown(str(error)),)
            raise
        encoding = reply.headers.get("content-encoding")
        return reply._replace(data=unpacked(reply.data, encoding)) if encoding else reply

    def _refusal(self, reply: HttpReply) -> TargetError:
        status = reply.status
        reason = refusal_text(reply.data)
        if status // 100 == 3 and (to := reply.headers.get("location")):
            reason = f"redirects to {to}, which is not followed"
        said = f"HTTP {status}: {reason}" if reason else f"HTTP {status}"
        return self._error(status_code(status), said, reply)

    def _shown(self, message: str) -> str:
        # Cut only afterwards: half a secret would not be found.
        return self._redact.text(message)[:_MAX_MESSAGE]

    def _error(self, code: str, message: str, reply: HttpReply) -> TargetError:
        headers = reply.headers
        return TargetError(
            code,
            self._shown(message),
            http_status=reply.status,
            retry_after_s=retry_after_s(headers.get("retry-after"), self._clock.now()),
            request_id=_request_id(reply),
            away="unavailable" if code == "service_unavailable" else None,
        )


def _request_id(reply: HttpReply) -> str | None:
    return reply.headers.get("x-request-id") or reply.headers.get("request-id")


def retry_after_s(text: str | None, now: datetime) -> float | None:
    """Seconds, written as such or as a date; anything else counts as absent."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        due = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    # A date without a zone is meant as GMT, as every HTTP date is.
    due = due if due.tzinfo else due.replace(tzinfo=UTC)
    return max(0.0, (due - now).total_seconds())


def unpacked(data: bytes, encoding: str) -> bytes:
    """What a packed body holds; a bomb is refused before it fills the memory."""
    name = encoding.strip().lower()
    if name == "identity":
        return data
    if name not in {"gzip", "x-gzip", "deflate"}:
        raise TargetError("bad_response", f"the answer is packed as '{name}', which was not asked")
    try:
        return _inflated(data, _GZIP_OR_ZLIB)
    except zlib.error:
        # Some servers send `deflate` without the header that the standard demands.
        if name != "deflate":
            raise _damaged() from None
    try:
        return _inflated(data, _RAW_DEFLATE)
    except zlib.error:
        raise _damaged() from None


def _inflated(data: bytes, form: int) -> bytes:
    """What one stream holds; gzip may be several in a row, as servers that flush send it."""
    unpacker = zlib.decompressobj(form)
    pieces, left = list[bytes](), MAX_BODY + 1
    # In small pieces, since what follows a stream is copied for each of them.
    for start in range(0, len(data), _PIECE):
        piece = data[start : start + _PIECE]
        while piece:
            if unpacker.eof:
                if form == _RAW_DEFLATE:
                    raise _damaged()
                unpacker = zlib.decompressobj(_GZIP)
            if held := unpacker.decompress(piece, left):
                pieces.append(held)
                left -= len(held)
            if not left:
                raise too_large()
            piece = unpacker.unused_data
    if not unpacker.eof:
        raise _damaged()
    return b"".join(pieces)


def _damaged() -> TargetError:
    return TargetError("internal_error", "the packed answer is damaged or cut off")
