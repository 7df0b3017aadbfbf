"""Connections to one server, which stay open: HTTP/1.1 of the standard library.

`http.client` takes a third of the time of `asyncio` to load, sends bodies and hands over answers
piece by piece, and never follows a redirect. It is not bound to one address and method, as the
client of targets is.
"""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any

from steelyard.client.address import ServerAddress
from steelyard.client.cancellation import Cancellation
from steelyard.client.deadlines import Deadline, TimedSocket
from steelyard.client.sent_body import SentBody
from steelyard.errors import ServerUnreachableError
from steelyard.model.proxies import Proxy
from steelyard.operating_system import has_input

_BLOCK = 64 * 1024
_MAX_IDLE = 8
BROKEN = (OSError, HTTPException)
"""What `http.client` and sockets raise when a connection is of no more use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """How connections to a server are made."""

    address: ServerAddress
    proxy: Proxy | None
    trusted: ssl.SSLContext | None
    timeout_s: float


class ServerAnswer:
    """The answer to one request: its head, and its body piece by piece."""

    def __init__(self, response: HTTPResponse, connection: Connection, pool: ConnectionPool):
        self.status = response.status
        self.headers: Mapping[str, str] = {
            name.lower(): value for name, value in response.getheaders()
        }
        self._response = response
        self._connection = connection
        self._pool = pool
        # What `http.client` counts itself depends on the version of Python.
        self._left = None if response.chunked else response.length
        self._is_read = self._left == 0

    def read(self, size: int, *, within_s: float | None = None) -> bytes:
        """The next bytes, at most so many; none at the end. `within_s` renews the deadline."""
        if within_s is not None:
            self._connection.deadline.renew(within_s)
        if self._is_read:
            return b""
        try:
            data = self._response.read1(size if self._left is None else min(size, self._left))
        except (*BROKEN, ValueError) as error:
            # `http.client` reads whatever stands for the length of a chunk as a number.
            raise broken(self._pool.route.address, error) from None
        if self._left is not None:
            self._left -= len(data)
            if not data:
                raise broken(self._pool.route.address, HTTPException("the answer was cut off"))
        self._is_read = not data or self._left == 0
        return data

    def close(self) -> None:
        """Keep the connection where the answer was read to its end; else close it."""
        is_reusable = self._is_read and not self._response.will_close
        self._response.close()
        if is_reusable:
            self._pool.keep(self._connection)
        else:
            self._connection.close()


class Connection:
    """One connection, which answers one request at a time."""

    def __init__(self, route: Route) -> None:
        self.deadline = Deadline(route.timeout_s)
        self._route = route
        self._http = _http_connection(route)
        self._http.response_class = self._response  # pyright: ignore[reportAttributeAccessIssue]
        self.is_connected = False

    def connect(self, cancellation: Cancellation) -> None:
        """Connect; a cancelled call is cut off from then on."""
        if not self.is_connected:
            self._http.connect()
            self.is_connected = True
        cancellation.guard(self.abort)

    def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: SentBody | None
    ) -> HTTPResponse:
        """Send a request, and read the head of its answer."""
        http = self._http
        self.deadline.renew(self._route.timeout_s)
        self._limit()
        proxy, address = self._route.proxy, self._route.address
        if proxy and not address.is_secure:
            path = f"{address.scheme}://{address.authority}{path}"
            if proxy.authorization:
                headers = {**headers, "proxy-authorization": proxy.authorization}
        http.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in {"host": address.authority, **headers}.items():
            http.putheader(name, value)
        if body:
            http.putheader("content-length", str(body.size))
            http.putheader("content-type", body.media_type)
        elif method != "GET":
            http.putheader("content-length", "0")
        try:
            http.endheaders()
            if body:
                self._send(body)
        except (BrokenPipeError, ConnectionResetError):
            # A server may refuse a body before it is all there: the answer says why.
            pass
        self.deadline.renew(self._route.timeout_s)
        return http.getresponse()

    def is_quiet(self) -> bool:
        """Whether the server has neither closed it nor sent what nobody asked for."""
        connected: socket.socket | None = self._http.sock
        if connected is None:
            return False
        return not has_input(connected.fileno())

    def close(self) -> None:
        """Close it."""
        self._http.close()

    def abort(self) -> None:
        """End it from another thread, so that whoever waits for its answer gets an error."""
        connected: socket.socket | None = self._http.sock
        if connected is not None:
            with suppress(OSError):  # it may have ended already
                connected.shutdown(socket.SHUT_RDWR)

    def _send(self, body: SentBody) -> None:
        for block in body.blocks(_BLOCK):
            self.deadline.renew(self._route.timeout_s)
            self._limit()
            self._http.send(block)

    def _limit(self) -> None:
        connected: Any = self._http.sock
        connected.settimeout(self.deadline.left())

    def _response(self, connected: socket.socket, **options: Any) -> HTTPResponse:
        timed: Any = TimedSocket(connected, self.deadline)
        return HTTPResponse(timed, **options)


class ConnectionPool:
    """The connections of a client; it may be used from several threads."""

    def __init__(self, route: Route) -> None:
        self.route = route
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    def __del__(self) -> None:
        """Close what a client that nobody closed has left."""
        self.close()

    def take(self, *, is_fresh: bool) -> Connection:
        """A connection from before that is still good, unless a fresh one is wanted."""
        while not is_fresh:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if connection.is_quiet():
                return connection
            connection.close()
        return Connection(self.route)

    def keep(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        with self._lock:
            if len(self._idle) < _MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def broken(
    address: ServerAddress, error: Exception, *, is_sent: bool = True
) -> ServerUnreachableError:
    """What a failed connection means; a wrong name or certificate stays wrong."""
    is_lasting = isinstance(error, ssl.SSLCertVerificationError) or (
        isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN
    )
    why = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ssl.SSLError):
        why = error.strerror
    what = "the connection to {} failed" if is_sent else "cannot connect to {}"
    return ServerUnreachableError(
        f"{what.format(address)}: {why}", is_sent=is_sent, is_lasting=is_lasting
    )


def _http_connection(route: Route) -> HTTPConnection:
    address, proxy = route.address, route.proxy
    host, port = (proxy.host, proxy.port) if proxy else (address.host, address.port)
    if not address.is_secure:
        return HTTPConnection(host, port, timeout=route.timeout_s)
    made = HTTPSConnection(host, port, timeout=route.timeout_s, context=route.trusted)
    if proxy:
        headers = {"proxy-authorization": proxy.authorization} if proxy.authorization else {}
        made.set_tunnel(address.host, address.port, headers)
    return made
