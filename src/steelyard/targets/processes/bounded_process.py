"""A program run to its end within limits of time and output; whatever it starts ends with it."""

from __future__ import annotations

import atexit
import os
import secrets
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from steelyard.targets.processes.program import TAIL, Ended, Program
from steelyard.targets.processes.supervisor import CROWDED, UNSTARTED, supervised
from steelyard.targets.processes.unsupervised import IS_NEEDED, UnsupervisedProcess

MARK = "STEELYARD_PROGRAM"
"""The variable by which a process is known as started by one run of a program."""
_END_S = 5.0

_GRACE_S = 1.0
_PATIENCE_S = 12.0
"""Two supervisors take at most five seconds each to end what their program started."""
_PIECE = 65536


class _Programs:
    """The supervisors of programs that have not ended; when this one goes, all of them do."""

    def __init__(self) -> None:
        self._supervisors: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_over = False

    def start(self, begin: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start one, unless it would outlive this process."""
        with self._lock:
            if self._is_over:
                raise InterruptedError("this process ends, and starts no further program")
            process = begin()
            self._supervisors.add(process)
        return process

    def ended(self, supervisor: subprocess.Popen[bytes]) -> None:
        """One has come to its end."""
        with self._lock:
            self._supervisors.discard(supervisor)

    def end_all(self) -> None:
        """End every program, and let no other begin."""
        with self._lock:
            self._is_over = True
            for supervisor in self._supervisors:
                # It knows all that its program started, and ends that.
                supervisor.terminate()


_PROGRAMS = _Programs()
atexit.register(_PROGRAMS.end_all)


class BoundedProcess:
    """One run of a program, under supervisors of its own."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._mark = secrets.token_hex(16)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_unwanted = threading.Event()

    def run(self) -> Ended:
        """Run it to its end; a program that cannot be started is an `OSError`."""
        read_end, write_end = os.pipe()
        with os.fdopen(read_end, "rb") as pipe:
            try:
                process = self._process = self._started(write_end)
            finally:
                os.close(write_end)
            try:
                return self._watched(process, pipe)
            finally:
                process.terminate()
                _wait(process)
                _PROGRAMS.ended(process)

    def end(self) -> None:
        """Bring it to its end; from any thread."""
        self._is_unwanted.set()
        if self._process is not None:
            self._process.terminate()

    def _watched(self, process: subprocess.Popen[bytes], pipe: IO[bytes]) -> Ended:
        bounds = self._program.bounds
        output = _Pipe(cast("IO[bytes]", process.stdout), bounds.output_bytes)
        complaint = _Pipe(cast("IO[bytes]", process.stderr), None)
        verdict = _Pipe(pipe, None)
        with _Streams(output, complaint, verdict) as streams:
            if self._is_unwanted.is_set():
                process.terminate()
            streams.read(bounds.timeout_s, lambda: verdict.is_closed or output.is_full)
            is_late = not (verdict.is_closed or output.is_full)
            process.terminate()
            streams.read(_PATIENCE_S, lambda: verdict.is_closed)
            if not verdict.data:
                # Nobody has said how it ended: the supervisors were killed.
                end_marked(self._mark)
            streams.read(_GRACE_S, lambda: output.is_closed and complaint.is_closed)
        return _ended(verdict.data, output, complaint, is_late=is_late)

    def _started(self, write_end: int) -> subprocess.Popen[bytes]:
        program = self._program
        with program.stdin() as stdin:
            return _PROGRAMS.start(
                lambda: subprocess.Popen(  # noqa: S603 - the user's program, never a response
                    supervised(program.argv, write_end),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    cwd=program.folder,
                    env={**program.environ, MARK: self._mark},
                    start_new_session=True,
                    pass_fds=(write_end,),
                )
            )


def process_of(program: Program) -> BoundedProcess | UnsupervisedProcess:
    """One run of a program, under supervisors where the system can fork."""
    return UnsupervisedProcess(program) if IS_NEEDED else BoundedProcess(program)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _ended(verdict: bytes, output: _Pipe, complaint: _Pipe, *, is_late: bool) -> Ended:
    if verdict.startswith(UNSTARTED):
        number = int(verdict.removeprefix(UNSTARTED).split()[0])
        raise OSError(number, os.strerror(number))
    return Ended(
        int(verdict) if verdict and verdict != CROWDED else -9,
        output.data,
        complaint.data,
        is_late=is_late,
        is_too_much=output.is_full,
        is_crowded=verdict == CROWDED,
    )


class _Pipe:
    """What comes out of a pipe: all of it up to a cap, or without a cap only its end."""

    def __init__(self, stream: IO[bytes], cap: int | None) -> None:
        self.stream = stream
        self.is_closed = False
        self._cap = cap
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def is_full(self) -> bool:
        """Whether there was more than the cap."""
        return self._cap is not None and self._size > self._cap

    @property
    def data(self) -> bytes:
        """What was kept."""
        return b"".join(self._pieces)

    def read(self) -> None:
        """Take what is there; what nobody keeps is read too, so that no program is held up."""
        piece = os.read(self.stream.fileno(), _PIECE)
        self.is_closed = not piece
        self._size += len(piece)
        if self._cap is None:
            self._pieces = [(self.data + piece)[-TAIL:]]
        elif not self.is_full:
            self._pieces.append(piece)


class _Streams:
    """Reads from several pipes at once, in one thread."""

    def __init__(self, *pipes: _Pipe) -> None:
        self._pipes = pipes
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> _Streams:
        for pipe in self._pipes:
            self._selector.register(pipe.stream, selectors.EVENT_READ, pipe)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        for pipe in self._pipes:
            pipe.stream.close()

    def read(self, wait_s: float, is_over: Callable[[], bool]) -> None:
        """Read until something is over, as long as that may take."""
        until = time.monotonic() + wait_s
        while not is_over() and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                pipe = cast(_Pipe, key.data)
                pipe.read()
                if pipe.is_closed:
                    self._selector.unregister(pipe.stream)


def end_marked(mark: str) -> None:
    """End every process that has inherited a mark, as far as the machine shows them (Linux)."""
    until = time.monotonic() + _END_S
    while (left := list(_marked(mark))) and time.monotonic() < until:
        # What is stopped starts nothing while the others are ended.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)


def _marked(mark: str) -> Iterator[int]:
    sought = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        # Those of other users cannot be read, and what has just ended has none.
        with suppress(OSError):
            if sought in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
