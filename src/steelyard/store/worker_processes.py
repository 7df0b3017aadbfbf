"""Processes of this machine that work on a part of a run."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast


class WorkerProcess:
    """A process that was started."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def read(self) -> bytes:
        """What it has written since; nothing when it is through."""
        return await cast(asyncio.StreamReader, self._process.stdout).read(65536)

    async def wait(self) -> int:
        """Its exit code; negative when a signal ended it."""
        return await self._process.wait()

    def terminate(self) -> None:
        """Ask it to stop."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def kill(self) -> None:
        """Stop it."""
        with suppress(ProcessLookupError):
            self._process.kill()


async def start_worker(
    root: Path, run_id: str, fence: int, part: tuple[int, int], targets: Sequence[str]
) -> WorkerProcess:
    """Start `steelyard.worker` on a part of a run."""
    words = (str(root), run_id, str(fence), f"{part[0]}/{part[1]}", *targets)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "steelyard.worker", *words, stdout=PIPE
    )
    return WorkerProcess(process)
