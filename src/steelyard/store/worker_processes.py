"""Processes of this machine that work on a part of a run, seen from the one that holds it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar, cast

from steelyard.execution.parts import Part
from steelyard.execution.ports import Answer, HolderQuestion
from steelyard.operating_system import NEW_GROUP
from steelyard.store.runs.worker_pipe import (
    CANCELLED,
    KEPT,
    STOPPED,
    WorkerJob,
    framed,
    message,
    read_frame,
    written_answer,
    written_job,
)

Found = TypeVar("Found")


class WorkerProcess:
    """A started process; it sends rows to store and waits until they are committed."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            # -P: a module in the project's folder is not taken for one that is installed.
            [sys.executable, "-P", "-m", "steelyard.part_worker", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C is for the process that holds the run, which ends the others in order.
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
        self._thread = ThreadPoolExecutor(1, "steelyard-worker")

    def give(self, job: WorkerJob) -> None:
        """What it shall work on."""
        self._send(framed(written_job(job)))

    async def read(self) -> bytes | HolderQuestion:
        """The rows that it wants to be kept next, or a question; nothing when it is through."""
        stream = cast(IO[bytes], self._process.stdout)
        return message(await self._in_thread(lambda: read_frame(stream)))

    def answer(self, question: HolderQuestion, answer: Answer) -> None:
        """The answer to a question of it."""
        self._send(written_answer(question, answer))

    def confirm(self) -> None:
        """What it wanted to be kept is kept."""
        self._send(KEPT)

    def cancel(self) -> None:
        """It shall make no further call, and keep what is left as cancelled."""
        self._send(CANCELLED)

    async def wait(self) -> int:
        """Its exit code; negative when a signal ended it."""
        return await self._in_thread(self._process.wait)

    def stop(self) -> None:
        """It shall break off its calls, and keep that it has."""
        self._send(STOPPED)

    def terminate(self) -> None:
        """Ask it to end; what it still wants to be kept is not."""
        self._hang_up(self._process.stdin)

    def kill(self) -> None:
        """Stop it."""
        self._process.kill()

    def close(self) -> None:
        """Let go of it; one that still waits for work ends."""
        self._hang_up(self._process.stdin)
        self._process.wait()
        self._hang_up(self._process.stdout)
        self._thread.shutdown()

    async def _in_thread(self, work: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _send(self, data: bytes) -> None:
        stream = cast(IO[bytes], self._process.stdin)
        with suppress(OSError):  # one that is gone is noticed where it is read from
            stream.write(data)
            stream.flush()

    @staticmethod
    def _hang_up(stream: IO[bytes] | None) -> None:
        with suppress(OSError):
            cast(IO[bytes], stream).close()


class WorkerProcesses:
    """Starts processes for the runs of a project."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._waiting: list[WorkerProcess] = []

    def warm(self, count: int) -> None:
        """Start processes before there is work for them: to be ready takes them a while."""
        self._waiting.extend(WorkerProcess(self._root) for _ in range(count))

    def start(self, run_id: str, part: Part, targets: Sequence[str]) -> WorkerProcess:
        """A process that works on a part of a run."""
        process = self._waiting.pop() if self._waiting else WorkerProcess(self._root)
        process.give(WorkerJob(run_id, (part.number, part.of), tuple(targets)))
        return process

    def close(self) -> None:
        """End those for which there was no work."""
        while self._waiting:
            process = self._waiting.pop()
            process.kill()
            process.close()
