"""A program run within limits of time and output where the system cannot supervise it (Windows).

It is ended itself; what it has started is not, and there is no limit to how much it starts.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from io import BufferedReader
from typing import cast

from steelyard.targets.processes.program import TAIL, Ended, Program

IS_NEEDED = not hasattr(os, "fork")
WARNING = (
    "this system cannot supervise programs: what a program of a target or a check starts may "
    "outlive it, and has no limit"
)
_GRACE_S = 1.0
"""What the program has started may hold its pipes open; nobody waits for that."""
_KILLED = -9
_PIECE = 65536


class UnsupervisedProcess:
    """One run of a program, which alone is ended when it takes too long or writes too much."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._is_unwanted = threading.Event()

    def run(self) -> Ended:
        """Run it to its end; a program that cannot be started is an `OSError`."""
        program = self._program
        with program.stdin() as stdin:
            process = self._process = subprocess.Popen(  # noqa: S603 - the user's program, never a response
                program.argv,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=program.folder,
                env=program.environ,
            )
        try:
            return self._watched(process)
        finally:
            process.kill()
            process.wait()

    def end(self) -> None:
        """Bring it to its end; from any thread."""
        self._is_unwanted.set()
        if self._process is not None:
            self._process.kill()

    def _watched(self, process: subprocess.Popen[bytes]) -> Ended:
        if self._is_unwanted.is_set():
            process.kill()
        bounds = self._program.bounds
        output = _Output(cast(BufferedReader, process.stdout), bounds.output_bytes, process.kill)
        complaint = _Output(cast(BufferedReader, process.stderr), None, process.kill)
        is_late = False
        try:
            process.wait(bounds.timeout_s)
        except subprocess.TimeoutExpired:
            is_late = True
            process.kill()
            process.wait()
        return Ended(
            _KILLED if is_late or output.is_full else process.returncode,
            output.data(),
            complaint.data(),
            is_late=is_late,
            is_too_much=output.is_full,
        )


class _Output:
    """What comes out of a pipe, read by a thread: up to a cap, or without a cap only its end."""

    def __init__(
        self, stream: BufferedReader, cap: int | None, on_full: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._cap = cap
        self._on_full = on_full
        self._data = bytearray()
        self.is_full = False
        self._thread = threading.Thread(target=self._read, name="steelyard-output", daemon=True)
        self._thread.start()

    def data(self) -> bytes:
        """What was kept; of a pipe that stays open, what has come by now."""
        self._thread.join(_GRACE_S)
        return bytes(self._data)

    def _read(self) -> None:
        with self._stream as stream:
            while piece := stream.read1(_PIECE):
                self._keep(piece)

    def _keep(self, piece: bytes) -> None:
        if self.is_full:
            return
        self._data += piece
        if self._cap is None:
            del self._data[:-TAIL]
        elif len(self._data) > self._cap:
            self.is_full = True
            self._on_full()
