"""A program run to its end within limits of time and output; whatever it starts ends with it."""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from steelyard.targets.supervisor import CROWDED, supervised

_TAIL = 2000
_GRACE_S = 1.0
_PATIENCE_S = 10.0
"""A supervisor takes at most half of it to end what its program started."""
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


class Bounds(NamedTuple):
    """What a program may use."""

    timeout_s: float
    output_bytes: int


class Ended(NamedTuple):
    """How a program came to its end, or was brought to it."""

    code: int
    output: bytes
    complaint: bytes
    """The end of what it wrote to its standard error."""
    is_late: bool = False
    is_too_much: bool = False
    is_crowded: bool = False
    """Whether it started more processes than it may."""


def run_bounded(
    argv: Sequence[str], given: bytes, folder: Path, environ: Mapping[str, str], bounds: Bounds
) -> Ended:
    """Run it with bytes on its standard input, under a supervisor of its own."""
    told, telling = os.pipe()
    with os.fdopen(told, "rb") as heard:
        try:
            process = _started(argv, given, folder, environ, telling)
        finally:
            os.close(telling)
        over = threading.Event()
        output = _Reader(cast("IO[bytes]", process.stdout), bounds.output_bytes, over)
        complaint = _Reader(cast("IO[bytes]", process.stderr), None, over)
        waiting = threading.Thread(target=_wait, args=(process, over), daemon=True)
        waiting.start()
        try:
            is_late = not over.wait(bounds.timeout_s)
        finally:
            process.terminate()
            waiting.join(_PATIENCE_S)
            process.kill()
            waiting.join()
            _PROGRAMS.ended(process)
        said = heard.read()
    for reader in (output, complaint):
        reader.join(_GRACE_S)
    return Ended(
        process.returncode if said in {b"", CROWDED} else int(said),
        output.data,
        complaint.data,
        is_late=is_late,
        is_too_much=output.is_full,
        is_crowded=said == CROWDED,
    )


def _started(
    argv: Sequence[str], given: bytes, folder: Path, environ: Mapping[str, str], telling: int
) -> subprocess.Popen[bytes]:
    # From a file, so that nobody has to wait for a program that does not read.
    with tempfile.TemporaryFile() as stdin:
        stdin.write(given)
        stdin.seek(0)
        return _PROGRAMS.start(
            lambda: subprocess.Popen(  # noqa: S603 - the user's program, never a response
                supervised(argv, telling),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=dict(environ),
                start_new_session=True,
                pass_fds=(telling,),
            )
        )


def _wait(process: subprocess.Popen[bytes], over: threading.Event) -> None:
    process.wait()
    over.set()


class _Reader(threading.Thread):
    """What comes out of a pipe: all of it up to a cap, or without a cap only its end."""

    def __init__(self, stream: IO[bytes], cap: int | None, over: threading.Event) -> None:
        super().__init__(name="steelyard-program", daemon=True)
        self._stream = stream
        self._cap = cap
        self._over = over
        self._pieces: list[bytes] = []
        self._size = 0
        self.start()

    @property
    def is_full(self) -> bool:
        """Whether there was more than the cap."""
        return self._cap is not None and self._size > self._cap

    @property
    def data(self) -> bytes:
        """What was kept."""
        return b"".join(self._pieces)

    def run(self) -> None:
        """Read to the end; what nobody keeps is read too, so that the program is not held up."""
        with suppress(ValueError, OSError), self._stream as stream:
            while piece := os.read(stream.fileno(), _PIECE):
                self._size += len(piece)
                if self._cap is None:
                    self._pieces = [(self.data + piece)[-_TAIL:]]
                elif self.is_full:
                    self._over.set()
                    return
                else:
                    self._pieces.append(piece)
