"""What passes between the process that holds a run and one that works on a part of it.

To the worker: a frame with its job; then a byte for each batch that is kept, and one when the run
is cancelled or stopped. From the worker: a frame with the rows of each batch. Only the holder
writes to the database, so that nobody waits for another's lock, and a worker without its holder
can do nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, NamedTuple

import msgspec

from steelyard.operating_system import ask_to_end
from steelyard.store.runs.row_writer import Rows

KEPT, CANCELLED, STOPPED = b".", b"c", b"s"
_SIZE = 4


class WorkerJob(NamedTuple):
    """A part of a run."""

    run_id: str
    part: tuple[int, int, int]
    """Its number, of how many, and how many neighbours stay together."""
    targets: tuple[str, ...]


written_job = msgspec.msgpack.Encoder().encode
read_job = msgspec.msgpack.Decoder(WorkerJob).decode
written_rows = msgspec.msgpack.Encoder().encode
read_rows = msgspec.msgpack.Decoder(Rows).decode


def framed(content: bytes) -> bytes:
    """Content with its length before it."""
    return len(content).to_bytes(_SIZE, "big") + content


def read_frame(stream: IO[bytes]) -> bytes:
    """The content of the next frame; nothing at the end, or where one was torn off."""
    head = stream.read(_SIZE)
    size = int.from_bytes(head, "big") if len(head) == _SIZE else 0
    content = stream.read(size)
    return content if len(content) == size else b""


class HolderPipe:
    """The process that holds the run, seen from a worker: rows go to it to be kept."""

    def __init__(self, commands: IO[bytes], out: int) -> None:
        self.run_id = ""
        self._in = commands
        self._out = out
        self._kept = threading.Semaphore(0)
        self._is_alone = False
        self._is_cancelled = False
        self._on_cancel: Callable[[], None] | None = None

    def job(self) -> WorkerJob | None:
        """Wait for work; None when there is none."""
        frame = read_frame(self._in)
        if not frame:
            return None
        job = read_job(frame)
        self.run_id = job.run_id
        threading.Thread(target=self._listen, name="steelyard-holder", daemon=True).start()
        return job

    def write(self, rows: Rows) -> None:
        """Keep rows; returns when they are committed."""
        left = memoryview(framed(written_rows(rows)))
        with suppress(OSError):  # the holder is gone; reading the other pipe shows it
            while left:
                left = left[os.write(self._out, left) :]
        self._kept.acquire()
        if self._is_alone:
            # Nobody is left who could keep anything.
            raise SystemExit

    def close(self) -> None:
        """Nothing more comes."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call back, in another thread, when the run is cancelled."""
        self._on_cancel = callback
        if self._is_cancelled:
            callback()

    def _listen(self) -> None:
        while mark := self._in.read(1):
            if mark == KEPT:
                self._kept.release()
                continue
            if mark == STOPPED:
                ask_to_end()
                continue
            self._is_cancelled = True
            if self._on_cancel:
                self._on_cancel()
        # The holder is gone or wants no more: what is answered from now on could not be kept.
        self._is_alone = True
        self._kept.release()
        ask_to_end()
