"""Runs of programs beside an event loop: bytes in, bytes out, and nothing left behind."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from steelyard.errors import TargetError
from steelyard.targets.http_endpoint import MAX_BODY
from steelyard.targets.processes.bounded_process import (
    BoundedProcess,
    Ended,
    ProcessLimits,
    Program,
)
from steelyard.targets.processes.supervisor import MAX_PROCESSES
from steelyard.targets.threads import Threads

_PATIENCE_S = 15.0


class ChildProcesses:
    """Starts programs in a folder, each with supervisors of its own and a thread that waits."""

    def __init__(self, folder: Path, environ: Mapping[str, str], timeout_s: float) -> None:
        self._folder = folder
        self._environ = environ
        self._bounds = ProcessLimits(timeout_s, MAX_BODY)
        self._threads = Threads("steelyard-wait")

    async def run(self, argv: Sequence[str], given: bytes | None) -> Ended:
        """Run a program to its end; when it takes too long or writes too much, it is ended.

        Whatever it started ends with it.
        """
        process = BoundedProcess(
            Program(
                argv=argv,
                given=given,
                folder=self._folder,
                environ=self._environ,
                bounds=self._bounds,
            )
        )
        ended = await self._over(process)
        if ended.is_late:
            raise TargetError("timeout", f"no answer within {self._bounds.timeout_s:g} s")
        if ended.is_too_much:
            raise TargetError("bad_response", f"the output is larger than {MAX_BODY >> 20} MB")
        if ended.is_crowded:
            raise TargetError("target_error", f"it started more than {MAX_PROCESSES} processes")
        return ended

    async def _over(self, process: BoundedProcess) -> Ended:
        running = asyncio.ensure_future(self._threads.call(process.run))
        try:
            return cast(Ended, await asyncio.shield(running))
        except asyncio.CancelledError:
            process.end()
            await asyncio.wait([running], timeout=_PATIENCE_S)
            raise

    def close(self) -> None:
        """Let go of the threads."""
        self._threads.close()
