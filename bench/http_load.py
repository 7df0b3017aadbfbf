"""A client that asks as fast as a server answers: `python -m bench.http_load URL`.

It reads no more of HTTP than it must, so that it is not what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections.abc import Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

_REQUESTS_A_KEY = 600
"""The most that a server takes in a minute."""
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


class Answer(NamedTuple):
    """What a server has answered."""

    status: int
    body: bytes


class Connection(asyncio.Protocol):
    """One connection, on which one request follows the other."""

    def __init__(self) -> None:
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep what requests are written to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def ask(self, request: bytes) -> asyncio.Future[Answer]:
        """Send a request; the answer before must have come."""
        assert self._transport
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiting

    def data_received(self, data: bytes) -> None:
        """Collect an answer until it is whole."""
        self._received += data
        end = self._received.find(b"\r\n\r\n") + 4
        length = _LENGTH.search(self._received, 0, end) if end >= 4 else None
        if length is None or not self._waiting:
            return
        whole = end + int(length[1])
        if len(self._received) >= whole:
            answer = Answer(int(self._received[9:12]), self._received[end:whole])
            self._received = b""
            self._waiting.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail whoever waits."""
        if self._waiting and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionError("the server has hung up"))

    def close(self) -> None:
        """Hang up."""
        assert self._transport
        self._transport.close()


async def connect(url: str) -> Connection:
    """A connection to a server."""
    address = urlsplit(url)
    loop = asyncio.get_running_loop()
    host, port = address.hostname or "", address.port or 80
    _, connection = await loop.create_connection(Connection, host, port)
    return connection


def request_bytes(url: str, body: bytes | None = None, key: str | None = None) -> bytes:
    """A request as it is sent: GET, or POST where there is a body."""
    address = urlsplit(url)
    path = address.path + (f"?{address.query}" if address.query else "")
    method = "GET" if body is None else "POST"
    head = f"{method} {path} HTTP/1.1\r\nHost: {address.netloc}\r\n"
    head += f"X-API-Key: {key}\r\n" if key else ""
    if body is None:
        return f"{head}\r\n".encode("ascii")
    more = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return f"{head}{more}".encode("ascii") + body


async def load(
    url: str, connections: int, seconds: float, keys: Sequence[str] = ()
) -> dict[str, float]:
    """Ask on several connections at once, and say how fast the answers came."""
    times: list[float] = []
    errors = 0
    end = time.perf_counter() + seconds
    requests = _requests(url, keys)

    async def ask() -> None:
        nonlocal errors
        connection = await connect(url)
        while (begin := time.perf_counter()) < end:
            answer = await connection.ask(next(requests))
            times.append(time.perf_counter() - begin)
            errors += answer.status != 200
        connection.close()

    await asyncio.gather(*(ask() for _ in range(connections)))
    return {"per_s": len(times) / seconds, "errors": errors, **percentiles(times)}


def _requests(url: str, keys: Sequence[str]) -> Iterator[bytes]:
    """The same request again and again; a key is replaced before its limit is reached."""
    if not keys:
        yield from repeat(request_bytes(url))
    for key in keys:
        yield from repeat(request_bytes(url, key=key), _REQUESTS_A_KEY)


def percentiles(times: list[float]) -> dict[str, float]:
    """How long the answers took, in milliseconds."""
    ordered = sorted(times)
    return {
        f"p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)] * 1000, 2)
        for share in (50, 95, 99)
        if ordered
    }


def main() -> None:
    """Read the command line and print what was measured as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--keys", type=Path, help="a file with a key in each line")
    asked = parser.parse_args()
    keys = asked.keys.read_text(encoding="ascii").split() if asked.keys else ()
    found = asyncio.run(load(asked.url, asked.connections, asked.seconds, keys))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
