"""A client that sends bytes as they are, valid HTTP or not."""

from __future__ import annotations

import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class RawAnswer(NamedTuple):
    """The first answer on a connection, and what followed it."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@contextmanager
def connected(url: str, timeout_s: float = 10) -> Generator[socket.socket]:
    """A connection to a server."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout_s) as client:
        yield client


def read_all(client: socket.socket) -> bytes:
    """Everything that the server sends until it closes the connection."""
    found = b""
    try:
        while some := client.recv(65536):
            found += some
    except ConnectionResetError:
        pass
    return found


def answers(data: bytes) -> list[RawAnswer]:
    """The answers with a length, one after the other."""
    found: list[RawAnswer] = []
    while data:
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        size = int(headers.get("content-length", 0))
        found.append(RawAnswer(int(first.split()[1]), headers, rest[:size]))
        data = rest[size:]
    return found


def exchange(url: str, data: bytes) -> list[RawAnswer]:
    """Send bytes, and read until the server closes the connection."""
    with connected(url) as client:
        client.sendall(data)
        return answers(read_all(client))
