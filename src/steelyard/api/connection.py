"""One connection: what a client may send before an operation sees it, and how slowly."""

from __future__ import annotations

import logging
from typing import Any, ClassVar, Literal

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from steelyard.api.errors import error_body
from steelyard.api.request_ids import request_id_of
from steelyard.api.safe_headers import SAFE_HEADERS
from steelyard.api.serving import TransportLimits

_PHRASES = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}
_READ_AT_ONCE = 256 * 1024
"""A head may share what is read at once with the body before it."""
_FRAMING = 16
"""The most bytes around each byte of a body; chunks of a single byte have at least five."""
_LOG = logging.getLogger("steelyard.connection")


class RefusedRequest(Exception):  # noqa: N818 - an answer, not a failure
    """A request that ends before it reaches the application."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ClientConnection(HttpToolsProtocol):
    """uvicorn's connection, with limits on sizes and times, and our answers to what is refused.

    The server calls `check` about once a second.
    """

    limits: ClassVar[TransportLimits] = TransportLimits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._stage: Literal["idle", "head", "body"] = "idle"
        self._since = 0.0  # when the stage began
        self._head_bytes = 0
        self._unparsed_bytes = 0
        self._body_bytes = 0
        self._sent_bytes = 0  # of the body, with the lines that begin its chunks
        self._last_byte_at = 0.0
        self._answered_at: float | None = None  # when the answer was whole before the body
        self._unread_since: float | None = None
        self._checked_at = 0.0
        self._refused: RefusedRequest | None = None
        self._is_deaf = False

    def connection_made(self, transport: Any) -> None:
        """Take a connection, or refuse it where there are too many."""
        super().connection_made(transport)
        self._checked_at = self.loop.time()
        self._enter("head")
        if len(self.connections) > self.limits.max_connections:
            self._refuse(RefusedRequest(503, "the server has too many connections; try again"))

    def data_received(self, data: bytes) -> None:
        """Read what a client sends."""
        if self._is_deaf:
            return
        self._last_byte_at = self.loop.time()
        if self._stage == "idle":
            self._enter("head")
        self._unset_keepalive_if_required()
        self._sent_bytes += len(data) if self._stage == "body" else 0
        assert self.parser is not None  # until the connection is lost
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # It is served as what it is without the upgrade; what follows it is of no protocol.
            self._end_after_answer()
        except httptools.HttpParserError:
            self._refuse(self._refused or RefusedRequest(400, "this is no valid HTTP request"))
            return
        if self._stage == "head":
            self._count_unparsed(len(data))
        elif self._stage == "body":
            self._bound_framing()

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._enter("head")

    def on_url(self, url: bytes) -> None:
        """A part of its address."""
        super().on_url(url)
        most = self.limits.max_target_bytes
        if len(self.url) > most:
            raise self._noted(400, f"the address of a request has at most {most:,} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header; one that follows a body in chunks is counted and left out."""
        self._head_bytes += len(name) + len(value) + 4
        if self._head_bytes > self.limits.max_head_bytes:
            self._refused = self._too_much_head()
            raise self._refused
        if self._stage == "body":
            return
        super().on_header(name, value)
        if len(self.headers) > self.limits.max_headers:
            raise self._noted(400, f"a request has at most {self.limits.max_headers} headers")

    def on_headers_complete(self) -> None:
        """The body of a request begins, if it has one."""
        self._require_one_host()
        codings = [value for name, value in self.headers if name == b"transfer-encoding"]
        if codings and [one.strip().lower() for one in codings] != [b"chunked"]:
            raise self._noted(400, "the only transfer coding that is taken is chunked")
        if len(self.pipeline) >= self.limits.max_pipelined:
            raise self._noted(400, "too many requests wait on this connection")
        super().on_headers_complete()
        self._enter("body")

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request ends."""
        super().on_message_complete()
        self.headers = []  # what follows may be refused before it has any
        self._enter("idle")

    def pause_writing(self) -> None:
        """The client does not read what is sent."""
        super().pause_writing()
        self._unread_since = self.loop.time()

    def resume_writing(self) -> None:
        """The client has read most of what was sent."""
        super().resume_writing()
        self._unread_since = None

    def check(self) -> None:
        """Close the connection of a client that is too slow."""
        now = self.loop.time()
        passed, self._checked_at = now - self._checked_at, now
        if self._unread_since is not None and now - self._unread_since > self.limits.unread_s:
            _LOG.warning("closed a connection: its client does not read the answer")
            self.transport.abort()
        elif self._stage == "head" and not self._is_serving():
            if now - self._since > self.limits.head_s:
                self._refuse(RefusedRequest(408, "the headers of the request came too slowly"))
        elif self._stage == "body":
            self._check_body(now, passed)

    def _check_body(self, now: float, passed: float) -> None:
        if self.cycle.response_complete:
            self._answered_at = self._answered_at or now
            if now - self._answered_at > self.limits.lingering_s:
                self.transport.close()
            return
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            # It is the server that is slow.
            self._since += passed
            self._last_byte_at += passed
            return
        elapsed, idle = now - self._since, now - self._last_byte_at
        is_slow = elapsed > self.limits.idle_body_s and (
            self._body_bytes < elapsed * self.limits.min_body_rate
        )
        if is_slow or idle > self.limits.idle_body_s:
            self._refuse(RefusedRequest(408, "the body of the request came too slowly"))

    def _enter(self, stage: Literal["idle", "head", "body"]) -> None:
        self._stage, self._since = stage, self.loop.time()
        self._last_byte_at = self._since
        self._body_bytes = self._sent_bytes = 0
        self._answered_at = None
        if stage != "body":
            self._head_bytes = self._unparsed_bytes = 0

    def _count_unparsed(self, size: int) -> None:
        """Bound what the parser holds of a header that has not ended."""
        self._unparsed_bytes += size
        if self._unparsed_bytes > self.limits.max_head_bytes + _READ_AT_ONCE:
            self._refuse(self._too_much_head())

    def _bound_framing(self) -> None:
        """Bound what is sent around a body: the parser passes over extensions of chunks."""
        framing = self._sent_bytes - self._body_bytes
        most = self.limits.max_head_bytes + _READ_AT_ONCE + _FRAMING * self._body_bytes
        if framing > most:
            self._refuse(RefusedRequest(400, "the chunks of a body begin with too long lines"))

    def _too_much_head(self) -> RefusedRequest:
        most = self.limits.max_head_bytes
        return RefusedRequest(400, f"the headers of a request have at most {most:,} bytes")

    def _require_one_host(self) -> None:
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) != 1:
            raise self._noted(400, "a request has exactly one Host header")
        if not self.url.startswith((b"/", b"*")):
            target = httptools.parse_url(self.url)
            port = b":%d" % target.port if target.port else b""
            if (target.host or b"") + port != hosts[0].lower():
                raise self._noted(400, "the address of the request is not that of its Host header")

    def _noted(self, status: int, message: str) -> RefusedRequest:
        """The reason is lost on the way through the parser."""
        self._refused = RefusedRequest(status, message)
        return self._refused

    def _is_serving(self) -> bool:
        # None before the first request, whatever uvicorn's type says.
        return bool(self.cycle) and not self.cycle.response_complete

    def _refuse(self, refused: RefusedRequest) -> None:
        """Answer what cannot be served, unless an earlier request is being answered."""
        self._is_deaf = True
        request_id = self._request_id()
        _LOG.warning("refused a request: %s", refused, extra={"request_id": request_id})
        is_later = self._is_serving() and (self._stage == "head" or self.pipeline)
        if is_later:
            self._end_after_answer()
            return
        if not (self._is_serving() and self.cycle.response_started):
            self.transport.write(_answer(refused, request_id))
        self.transport.close()

    def _request_id(self) -> str:
        """The id that the application has given, or that was sent; else a new one."""
        if self._stage == "body" and (known := self.scope.get("state", {}).get("request_id")):
            return str(known)
        # None before the first request, whatever uvicorn's type says.
        given = (value for name, value in self.headers or () if name == b"x-request-id")
        return request_id_of(next(given, b"").decode("latin-1"))

    def _end_after_answer(self) -> None:
        self._is_deaf = True
        if self.cycle:
            self.cycle.keep_alive = False


def _answer(refused: RefusedRequest, request_id: str) -> bytes:
    body = error_body(refused.status, str(refused), request_id)
    headers = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        "connection": "close",
        "x-request-id": request_id,
        **SAFE_HEADERS,
    }
    lines = (f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {refused.status} {_PHRASES[refused.status]}\r\n{''.join(lines)}\r\n"
    return head.encode("ascii") + body
