"""Reading from a socket in time, however slowly the other side sends."""

from __future__ import annotations

import io
import socket
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Deadline:
    """The moment until which something must have happened; it can be set anew."""

    def __init__(self, seconds: float) -> None:
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        """Begin to count from now on."""
        self._seconds = seconds
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left; an error where there are none."""
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"no answer within {self._seconds:g} s")
        return left


class TimedSocket:
    """What `http.client` reads an answer from: a byte now and then does not extend the time."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket = connected
        self._deadline = deadline

    def makefile(self, _mode: str) -> io.BufferedReader:
        """A file of the answer."""
        raw = self._socket.makefile("rb", buffering=0)
        return io.BufferedReader(_TimedReader(raw, self._socket, self._deadline))


class _TimedReader(io.RawIOBase):
    def __init__(self, raw: socket.SocketIO, sock: socket.socket, deadline: Deadline) -> None:
        self._raw = raw
        self._socket = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        self._socket.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
