"""A server whose answers are functions: it may lie, stall, drip or hang up."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias

Script: TypeAlias = Callable[[socket.socket], None]


@dataclass(slots=True)
class Hostile:
    """What was asked, over how many connections."""

    scripts: Sequence[Script]
    """One for each request; the last one is for all that follow."""
    url: str = ""
    connections: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])

    def serve(self, connected: socket.socket) -> None:
        """One connection."""
        self.connections += 1
        with connected, suppress(OSError):
            while request := _request(connected):
                self.requests.append(request)
                number = min(len(self.requests), len(self.scripts)) - 1
                self.scripts[number](connected)

    def heads(self, name: str) -> list[str]:
        """The values of a header, of all requests that have it."""
        lines = [line for one in self.requests for line in one.decode("latin-1").split("\r\n")]
        found = (line.partition(": ") for line in lines)
        return [value for one, _, value in found if one.lower() == name]


@contextmanager
def hostile(*scripts: Script) -> Generator[Hostile]:
    """Such a server, in threads."""
    made = Hostile(scripts)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def accept() -> None:
            with suppress(OSError):
                while True:
                    connected, _ = listener.accept()
                    threading.Thread(target=made.serve, args=(connected,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)


def sent(*pieces: bytes, then: Script | None = None) -> Script:
    """Sends these bytes, and does something else afterwards."""

    def script(connected: socket.socket) -> None:
        for piece in pieces:
            connected.sendall(piece)
        if then:
            then(connected)

    return script


def replied(
    body: bytes, status: str = "200 OK", kind: str = "application/json", head: str = ""
) -> Script:
    """A well-formed answer."""
    lines = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{head}"
    return sent(f"{lines}\r\n".encode() + body)


def hang_up(connected: socket.socket) -> None:
    """Close the connection."""
    connected.shutdown(socket.SHUT_RDWR)


def _request(connected: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        block = connected.recv(65536)
        if not block:
            return b""
        data += block
    head, _, body = data.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]
    while len(body) < int(length or 0):
        body += connected.recv(65536)
    return head + b"\r\n\r\n" + body
