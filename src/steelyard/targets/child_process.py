"""Runs of programs: bytes in, bytes out, and nothing left behind.

The loops' own subprocesses will not do: uvloop forks, which takes as long as the memory of the
parent is large, cuts an argument at a null byte, and both start all that wait before they look at
anything else.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple, cast

from steelyard.errors import TargetError
from steelyard.targets.http_endpoint import MAX_BODY
from steelyard.targets.threads import Threads

_TAIL = 4096
_GRACE_S = 1.0


class Ended(NamedTuple):
    """What a program wrote, and how it ended."""

    code: int
    """What it exited with; the number of a signal, below zero, where one ended it."""
    output: bytes
    complaint: bytes
    """The end of what it wrote to its standard error."""


class ChildProcesses:
    """Starts programs in a folder, each in a process group of its own."""

    def __init__(self, folder: Path, environ: Mapping[str, str], timeout_s: float) -> None:
        self._folder = folder
        self._environ = environ
        self._timeout_s = timeout_s
        self._threads = Threads("steelyard-wait")
        self._turn = asyncio.Lock()

    async def run(self, argv: Sequence[str], given: bytes | None) -> Ended:
        """Run a program to its end; when it takes too long or writes too much, it is ended.

        Whatever it started and left in its process group ends with it.
        """
        async with self._started(argv, given) as child:
            await asyncio.wait(
                [child.exited, child.output.full],
                timeout=self._timeout_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            is_late = not (child.exited.done() or child.output.full.done())
        if is_late:
            raise TargetError("timeout", f"no answer within {self._timeout_s:g} s")
        if child.output.full.done():
            raise TargetError("bad_response", f"the output is larger than {MAX_BODY >> 20} MB")
        return Ended(await child.exited, child.output.data, child.complaint.data)

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.close()

    @asynccontextmanager
    async def _started(self, argv: Sequence[str], given: bytes | None) -> AsyncGenerator[_Child]:
        process = await self._start(argv, is_asked=given is not None)
        child = _Child(asyncio.ensure_future(self._threads.call(process.wait)))
        try:
            await child.connect(process, given)
            yield child
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await child.leave()

    async def _start(self, argv: Sequence[str], *, is_asked: bool) -> subprocess.Popen[bytes]:
        # One at a time, with a look at everything else in between.
        async with self._turn:
            await asyncio.sleep(0)
            return subprocess.Popen(  # noqa: S603 - the user's program, without a shell
                argv,
                stdin=subprocess.PIPE if is_asked else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                env=self._environ,
                start_new_session=True,
            )


class _Child:
    """A program that runs, with what it wrote so far."""

    def __init__(self, exited: asyncio.Future[int]) -> None:
        self.exited = exited
        self.output = _Pipe(MAX_BODY)
        self.complaint = _Pipe(_TAIL, keeps_the_end=True)
        self._transports: list[asyncio.BaseTransport] = []

    async def connect(self, process: subprocess.Popen[bytes], given: bytes | None) -> None:
        """Read from its pipes, and write to them what it is given."""
        loop = asyncio.get_running_loop()
        for pipe, stream in ((self.output, process.stdout), (self.complaint, process.stderr)):
            made = await loop.connect_read_pipe(lambda pipe=pipe: pipe, cast(IO[bytes], stream))
            self._transports.append(made[0])
        if given is not None:
            stdin = cast(IO[bytes], process.stdin)
            transport, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, stdin)
            self._transports.append(transport)
            transport.write(given)
            transport.close()

    async def leave(self) -> None:
        """See it off."""
        # A process that left the group may hold the pipes for as long as it likes.
        ends = [self.exited, self.output.closed, self.complaint.closed]
        await asyncio.wait(ends, timeout=_GRACE_S)
        for transport in self._transports:
            transport.close()


class _Pipe(asyncio.Protocol):
    """What came out of a pipe, up to a cap."""

    def __init__(self, cap: int, *, keeps_the_end: bool = False) -> None:
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.full: asyncio.Future[None] = loop.create_future()
        self._cap = cap
        self._keeps_the_end = keeps_the_end
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def data(self) -> bytes:
        return b"".join(self._pieces)

    def data_received(self, data: bytes) -> None:
        if self._keeps_the_end:
            self._pieces = [(self.data + data)[-self._cap :]]
            return
        self._size += len(data)
        if self._size <= self._cap:
            self._pieces.append(data)
        elif not self.full.done():
            self.full.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's form
        self.closed.set_result(None)
