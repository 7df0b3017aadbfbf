"""One HTTP endpoint, asked over connections that stay open.

A general client builds a request, a response and a stream of objects for every call; here the
head of the request is made once and the answer is put together as it arrives. What that saves
is told in docs/decisions/0004-own-http-client.md.
"""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias, cast
from urllib.parse import quote, urlsplit

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from steelyard.errors import ConnectionLostError, TargetError
from steelyard.model.proxies import Proxy
from steelyard.operating_system import has_input
from steelyard.targets.http_tunnel import open_tunnel
from steelyard.targets.public_addresses import public_addresses
from steelyard.targets.routes import DIRECT, EndpointRoute

MAX_BODY = 16 * 1024 * 1024
MAX_STREAM = 64 * 1024 * 1024
"""Each token of a stream comes in some hundred bytes of its own."""
_MAX_HEAD = 1024 * 1024
_CLOCK_STEP_S = 0.002
"""An event loop that counts milliseconds may call a little early."""
_CUT_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
# How a request is framed is ours to say.
_OURS = {"content-length", "transfer-encoding", "connection"}
Watch: TypeAlias = Callable[[bytes], None]
"""Takes each piece of the body of a stream as it arrives."""


class HttpReply(NamedTuple):
    """What an endpoint answered; the names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    data: bytes


class HttpEndpoint:
    """Sends bodies to one address, each over a connection of its own for as long as it takes."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout_s: float,
        *,
        method: str = "POST",
        route: EndpointRoute = DIRECT,
    ) -> None:
        parts = urlsplit(url)
        self._route = route
        self._is_secure = parts.scheme == "https"
        self._host = cast(str, parts.hostname)
        self._port = parts.port or (443 if self._is_secure else 80)
        self._timeout_s = timeout_s
        self._idle: list[_Connection] = []
        self._lost_requests: set[bytes] = set()
        """Those that a kept connection has lost: they are sent again on a connection of their own.
        """
        self._all: set[_Connection] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = math.inf
        sent = {"host": parts.netloc, "user-agent": "steelyard", "accept": "*/*", **headers}
        path = quote(parts.path, safe="/%:@!$&()*+,;=~") or "/"
        self._where = f"{self._host}:{self._port}"
        if route.proxy:
            self._where += f" through the proxy {route.proxy.place}"
            if not self._is_secure:
                path = f"http://{parts.netloc}{path}"
                if route.proxy.authorization:
                    sent["proxy-authorization"] = route.proxy.authorization
        self._line = f"{method} {path}".encode()
        lines = [" HTTP/1.1", *(f"{name}: {sent[name]}" for name in sent if name not in _OURS)]
        self._head = "\r\n".join(lines).encode()
        self._has_body = method != "GET"

    async def send(
        self, body: bytes = b"", query: str = "", watch: Watch | None = None
    ) -> HttpReply:
        """The answer to one body or query; it comes whole and in time, or not at all.

        A request is sent once: whoever asks decides whether and when it is sent again.
        """
        line = b"%b?%b" % (self._line, query.encode("ascii")) if query else self._line
        if self._has_body:
            data = b"%b%b\r\ncontent-length: %d\r\n\r\n%b" % (line, self._head, len(body), body)
        else:
            data = b"%b%b\r\n\r\n" % (line, self._head)
        due = asyncio.get_running_loop().time() + self._timeout_s
        if data not in self._lost_requests and (kept := self._kept()):
            try:
                return await self._ask(kept, data, due, watch)
            except TargetError as error:
                if not kept.is_closed_unanswered:
                    raise
                self._lost_requests.add(data)
                raise ConnectionLostError(error.code, str(error), away=error.away) from None
        self._lost_requests.discard(data)
        return await self._ask(await self._connect(), data, due, watch)

    def _kept(self) -> _Connection | None:
        """A connection from before that is still good."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet:
                return connection
            connection.abort()
        return None

    async def _ask(
        self, connection: _Connection, data: bytes, due: float, watch: Watch | None
    ) -> HttpReply:
        if due < self._alarm_at:
            self._set_alarm(due)
        try:
            reply = await connection.ask(data, due, watch)
        except BaseException:
            connection.abort()
            raise
        if connection.is_reusable:
            self._idle.append(connection)
        else:
            connection.abort()
        return reply

    async def close(self) -> None:
        """Close all connections."""
        if self._alarm:
            self._alarm.cancel()
        self._alarm_at = math.inf
        self._idle.clear()
        for connection in list(self._all):
            connection.abort()
        # Transports say goodbye in the next round of the loop.
        await asyncio.sleep(0)

    async def _connect(self) -> _Connection:
        try:
            async with asyncio.timeout(self._timeout_s):
                connection = await self._connected()
        except TimeoutError:
            raise _timeout(self._timeout_s) from None
        except OSError as error:
            raise _unreachable(self._where, error) from None
        self._all.add(connection)
        return connection

    async def _connected(self) -> _Connection:
        proxy = self._route.proxy
        if proxy and self._is_secure:
            return await self._tunnelled(proxy)
        if proxy:
            return await self._connected_to(proxy.host, proxy.port)
        if not self._route.public_only:
            return await self._connected_to(self._host, self._port)
        wrong: OSError | None = None
        for address in await public_addresses(self._host, self._port):
            try:
                return await self._connected_to(address, self._port)
            except OSError as error:
                wrong = error
        raise wrong or OSError(f"{self._host} has no address")

    async def _tunnelled(self, proxy: Proxy) -> _Connection:
        """A connection through a proxy, which sees neither what is asked nor what is said."""
        host, connection = self._host, _Connection(self._lost, self._timeout_s)
        if self._route.public_only:
            host = (await public_addresses(host, self._port))[0]
        opened = await open_tunnel(proxy, host, self._port)
        try:
            secure = await asyncio.get_running_loop().start_tls(
                *(opened, connection, self._route.trusted or ssl.create_default_context()),
                server_hostname=self._host,
            )
        except BaseException:
            opened.abort()
            raise
        if secure is None:
            raise OSError("the connection was closed")
        connection.connection_made(secure)
        return connection

    async def _connected_to(self, address: str, port: int) -> _Connection:
        secure = self._route.trusted or self._is_secure or None
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: _Connection(self._lost, self._timeout_s),
            address,
            port,
            ssl=secure,
            server_hostname=self._host if secure else None,
        )
        return connection

    def _set_alarm(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        if self._alarm:
            self._alarm.cancel()
        self._alarm, self._alarm_at = loop.call_at(due, self._expire), due

    def _expire(self) -> None:
        """End the calls that are overdue; one alarm for all, since most calls never need one."""
        self._alarm_at, now = math.inf, asyncio.get_running_loop().time()
        left = [due for connection in list(self._all) if (due := connection.expired(now))]
        if left:
            self._set_alarm(min(left))

    def _lost(self, connection: _Connection) -> None:
        self._all.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)


class _Connection(asyncio.Protocol):
    """One connection: at most one request at a time is answered on it."""

    def __init__(self, lost: Callable[[_Connection], None], timeout_s: float) -> None:
        self._on_lost = lost
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._parser = HttpResponseParser(self)
        self._waiter: asyncio.Future[HttpReply] | None = None
        self._is_closed = False
        self.is_reusable = False
        self.is_closed_unanswered = False
        """Whether it was closed before a single byte of the answer came."""

    def ask(
        self, data: bytes, due: float, watch: Watch | None = None
    ) -> asyncio.Future[HttpReply]:
        """Send a request that is answered in time; the future ends with that or its error."""
        if self._is_closed:
            raise _unavailable("the connection was closed")
        self._waiter = self._loop.create_future()
        self._due, self._watch = due, watch
        self._most = MAX_STREAM if watch else MAX_BODY
        self._begin()
        self._received = 0
        self.is_reusable = False
        self._transport.write(data)
        return self._waiter

    @property
    def is_quiet(self) -> bool:
        """Whether nothing came that nobody asked for: neither an answer nor an end."""
        if self._is_closed or self._transport.is_closing():
            return False
        return not has_input(self._number)

    def expired(self, now: float) -> float | None:
        """When the call that is being made must be answered; one that is overdue has failed."""
        if self._waiter and self._due <= now + _CLOCK_STEP_S:
            self._fail(_timeout(self._timeout_s))
        return self._due if self._waiter else None

    def abort(self) -> None:
        """Close at once."""
        self._waiter = None
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        self._transport = cast(asyncio.Transport, transport)
        self._number: int = transport.get_extra_info("socket").fileno()

    def data_received(self, data: bytes) -> None:
        """Take in a piece of the answer."""
        if self._waiter is None:
            # Nobody asked, and whatever is asked next must not be answered by it.
            self._is_closed = True
            self._transport.abort()
            self._on_lost(self)
            return
        self._received += len(data)
        if self._received > self._most + _MAX_HEAD:
            self._fail(too_large(self._most))
            return
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            self._refuse(_unavailable(f"the answer is not HTTP: {error}"))
        except HttpParserUpgrade:
            self._refuse(TargetError("bad_response", "the server changes to another protocol"))

    def eof_received(self) -> None:
        """An answer without a length ends with its connection."""
        if self._waiter and self._is_open_ended:
            self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting call."""
        self._is_closed = True
        if self._waiter and self._has_head:
            self._fail(TargetError("internal_error", "the answer was cut off"))
        elif self._waiter:
            self.is_closed_unanswered = not self._received
            why = f"{type(exc).__name__}: {exc}" if exc else "the connection was closed"
            self._fail(_unavailable(why))
        self._on_lost(self)

    def on_message_begin(self) -> None:
        """The parser found another answer; what comes after the one asked for is nobody's."""
        if self._waiter is None:
            self.is_reusable = False
            self._begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """The parser found a header."""
        self._headers[name.decode("latin-1").lower()] = value.decode("utf-8", "replace")

    def on_headers_complete(self) -> None:
        """The parser is through with the head."""
        self._has_head = True
        framed = "content-length" in self._headers or "transfer-encoding" in self._headers
        self._is_open_ended = not framed and self._parser.get_status_code() >= 200

    def on_body(self, body: bytes) -> None:
        """The parser found a piece of the body."""
        self._pieces.append(body)
        if self._watch:
            self._watch(body)

    def on_message_complete(self) -> None:
        """The parser is through with the answer."""
        if self._parser.get_status_code() < 200:
            self._begin()  # the server only says that it goes on
        elif self._waiter:
            self.is_reusable = self._parser.should_keep_alive()
            self._finish()

    def _begin(self) -> None:
        self._headers: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self._has_head = self._is_open_ended = False

    def _finish(self) -> None:
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if len(data) > self._most:
            self._fail(too_large(self._most))
            return
        reply = HttpReply(self._parser.get_status_code(), self._headers, data)
        waiter = self._settled()
        if not waiter.done():
            waiter.set_result(reply)

    def _refuse(self, error: TargetError) -> None:
        """The rest cannot be read; where it comes after the answer, nobody waits for it."""
        self.is_reusable = False
        if self._waiter:
            self._fail(error)

    def _fail(self, error: TargetError) -> None:
        waiter = self._settled()
        if not waiter.done():
            waiter.set_exception(error)
        self._transport.abort()

    def _settled(self) -> asyncio.Future[HttpReply]:
        waiter, self._waiter = cast("asyncio.Future[HttpReply]", self._waiter), None
        return waiter


def _timeout(timeout_s: float) -> TargetError:
    return TargetError("timeout", f"no answer within {timeout_s:g} s")


def _unreachable(where: str, error: OSError) -> TargetError:
    """A wrong name and a wrong certificate stay wrong; everything else may pass."""
    message = f"cannot connect to {where}: {error}"
    if isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN:
        return TargetError("unknown_host", message)
    if isinstance(error, ssl.SSLError) and not isinstance(error, _CUT_OFF):
        return TargetError("tls_error", message)
    return TargetError("service_unavailable", message, away="unreachable")


def _unavailable(why: str) -> TargetError:
    return TargetError("service_unavailable", why, away="unavailable")


def too_large(most: int = MAX_BODY) -> TargetError:
    """The answer to an answer without end."""
    return TargetError("bad_response", f"the answer is larger than {most >> 20} MB")
