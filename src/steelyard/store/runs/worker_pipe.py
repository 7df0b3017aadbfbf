"""What passes between the process that holds a run and one that works on a part of it.

To the worker: a frame with its job; then a byte for each batch that is kept, one when the run
is cancelled or stopped, and one before the frame of each answer, or of news of limits. From the
worker: a frame with the rows of each batch, or with a question. Only the holder writes to the
database, so that nobody waits for another's lock, and a worker without its holder can do nothing.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import IO, NamedTuple

import msgspec

from steelyard.engine.sharing.messages import News, Said
from steelyard.execution.parts import LeasedRecords
from steelyard.execution.ports import Answer, HolderQuestion
from steelyard.operating_system import ask_to_end
from steelyard.store.runs.row_writer import Rows

KEPT, CANCELLED, STOPPED, ANSWERED = b".", b"c", b"s", b"a"
_QUESTION = b"?"
"""The first byte of a question; that of rows is the head of an array."""
_SIZE = 4
_RECORDS = HolderQuestion("records")


class WorkerJob(NamedTuple):
    """A part of a run."""

    run_id: str
    part: tuple[int, int]
    """Its number, and of how many."""
    targets: tuple[str, ...]
    plugins: dict[str, str] | None = None
    """The packages of plug-ins that it must have; None where it has those of the holder."""


written_job = msgspec.msgpack.Encoder().encode
read_job = msgspec.msgpack.Decoder(WorkerJob).decode
written_rows = msgspec.msgpack.Encoder().encode
read_rows = msgspec.msgpack.Decoder(Rows).decode
_written_question = msgspec.msgpack.Encoder().encode
_read_question = msgspec.msgpack.Decoder(HolderQuestion).decode
_written_answer = msgspec.msgpack.Encoder().encode
_read_answer = msgspec.msgpack.Decoder(tuple[HolderQuestion, Answer]).decode


def framed(content: bytes) -> bytes:
    """Content with its length before it."""
    return len(content).to_bytes(_SIZE, "big") + content


def message(content: bytes) -> bytes | HolderQuestion:
    """What a frame of a worker says: rows, or a question."""
    return _read_question(content[1:]) if content[:1] == _QUESTION else content


def written_answer(question: HolderQuestion, answer: Answer) -> bytes:
    """An answer as a worker reads it among the other marks."""
    return ANSWERED + framed(_written_answer((question, answer)))


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
        self.leases = LeasedRecords(lambda: self._ask(_RECORDS))
        self._in = commands
        self._out = out
        self._sending = threading.Lock()
        self._kept = threading.Semaphore(0)
        self._answers: queue.SimpleQueue[float] = queue.SimpleQueue()
        """Those that somebody waits for."""
        self._is_alone = False
        self._is_cancelled = False
        self._on_cancel: Callable[[], None] | None = None
        self._on_news: Callable[[News], None] | None = None

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
        self._send(written_rows(rows))
        self._kept.acquire()
        if self._is_alone:
            # Nobody is left who could keep anything.
            raise SystemExit

    def grant_usd(self, wanted: float) -> float:
        """More of the run's budget; 0 when nothing is left."""
        return self._answer(HolderQuestion("usd", usd=wanted))

    def say(self, said: Said) -> None:
        """Tell what this process has seen of the limits of a target."""
        self._ask(HolderQuestion("limits", said=said))

    def fail(self, why: str) -> None:
        """Tell why this process ends before its work is done."""
        self._ask(HolderQuestion("failed", why=why))

    def on_news(self, callback: Callable[[News], None]) -> None:
        """Call back, in another thread, with what is new about limits."""
        self._on_news = callback

    def close(self) -> None:
        """Nothing more comes."""

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Call back, in another thread, when the run is cancelled."""
        self._on_cancel = callback
        if self._is_cancelled:
            callback()

    def _answer(self, question: HolderQuestion) -> float:
        """Ask, and wait for the answer; asked by one thread."""
        self._ask(question)
        return self._answers.get()

    def _ask(self, question: HolderQuestion) -> None:
        self._send(_QUESTION + _written_question(question))

    def _send(self, content: bytes) -> None:
        left = memoryview(framed(content))
        with self._sending, suppress(OSError):  # reading the other pipe shows that it is gone
            while left:
                left = left[os.write(self._out, left) :]

    def _hear(self, answer: Answer) -> None:
        if isinstance(answer, tuple):
            self.leases.add(*answer)
        elif isinstance(answer, float | int):
            self._answers.put(float(answer))
        elif self._on_news:
            self._on_news(answer)

    def _listen(self) -> None:
        while mark := self._in.read(1):
            if mark == KEPT:
                self._kept.release()
                continue
            if mark == ANSWERED:
                answer = read_frame(self._in)
                if answer:
                    self._hear(_read_answer(answer)[1])
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
        self.leases.end()
        self._answers.put(0.0)
        ask_to_end()
