"""Processes of this machine that work on a part of a run, seen from the one that holds it."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import IO, TypeVar, cast

from steelyard.execution.parts import Part
from steelyard.execution.ports import Answer, HolderQuestion, WorkerNeeds
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
_LAST_WORDS_S = 2.0


class WorkerProcess:
    """A started process; it sends rows to store and waits until they are committed."""

    why = ""
    """It says by itself why it has ended, on standard error."""

    def __init__(
        self,
        root: Path,
        *,
        environment: Mapping[str, str] | None = None,
        on_said: Callable[[str], object] | None = None,
    ) -> None:
        """`on_said` gets each line that it writes on standard error, which is ours otherwise."""
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            # -P: a module in the project's folder is not taken for one that is installed.
            [sys.executable, "-P", "-m", "steelyard.part_worker", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if on_said else None,
            env=environment,
            # Ctrl-C is for the process that holds the run, which ends the others in order.
            start_new_session=True,
            creationflags=NEW_GROUP,
        )
        self._thread = ThreadPoolExecutor(1, "steelyard-worker")
        self._listener: threading.Thread | None = None
        if on_said:
            said = cast(IO[bytes], self._process.stderr)
            stream = io.TextIOWrapper(said, encoding="utf-8", errors="replace")
            self._listener = threading.Thread(target=_listen, args=(stream, on_said), daemon=True)
            self._listener.start()

    def give(self, job: WorkerJob) -> None:
        """What it shall work on."""
        self._send(framed(written_job(job)))

    async def read(self) -> bytes | HolderQuestion:
        """The rows that it wants to be kept next, or a question; nothing when it is through."""
        return message(await self.frame())

    async def frame(self) -> bytes:
        """The same as it was sent."""
        stream = cast(IO[bytes], self._process.stdout)
        return await self._in_thread(lambda: read_frame(stream))

    def tell(self, data: bytes) -> None:
        """Pass on marks and answers of another process that holds the run."""
        self._send(data)

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
        return await self._in_thread(self._ended)

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

    def _ended(self) -> int:
        code = self._process.wait()
        if self._listener:
            self._listener.join(_LAST_WORDS_S)  # a program that it has left behind may hold on
        return code

    async def _in_thread(self, work: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _send(self, data: bytes) -> None:
        stream = cast(IO[bytes], self._process.stdin)
        if stream.closed:
            return  # it was asked to end, and nobody cares for what else there is to say
        with suppress(OSError):  # one that is gone is noticed where it is read from
            stream.write(data)
            stream.flush()

    @staticmethod
    def _hang_up(stream: IO[bytes] | None) -> None:
        with suppress(OSError):
            cast(IO[bytes], stream).close()


def _listen(stream: IO[str], on_said: Callable[[str], object]) -> None:
    with stream:
        for line in stream:
            on_said(line)


class WorkerProcesses:
    """Starts processes for the runs of a project."""

    is_remote = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._waiting: list[WorkerProcess] = []

    def warm(self, count: int) -> None:
        """Start processes before there is work for them: to be ready takes them a while."""
        self._waiting.extend(WorkerProcess(self._root) for _ in range(count))

    def start(
        self,
        run_id: str,
        part: Part,
        targets: Sequence[str],
        needs: WorkerNeeds,  # noqa: ARG002
    ) -> WorkerProcess:
        """A process that works on a part of a run; what this machine has it has anyway."""
        process = self._waiting.pop() if self._waiting else WorkerProcess(self._root)
        process.give(WorkerJob(run_id, (part.number, part.of), tuple(targets)))
        return process

    def close(self) -> None:
        """End those for which there was no work."""
        while self._waiting:
            process = self._waiting.pop()
            process.kill()
            process.close()
