"""Worker processes that exist only on paper: what they send, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from fakes.runs import attempt
from steelyard.engine.redaction.redactor import Redactor
from steelyard.execution.parts import Part
from steelyard.execution.ports import Answer, HolderQuestion, WorkerNeeds
from steelyard.model.run import Result, RunState
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.row_writer import Rows
from steelyard.store.runs.worker_pipe import written_rows


@dataclass
class SentPipe:
    """A worker's way to the holder, with nobody at its end."""

    run_id: str = "run_1"
    sent: list[bytes] = field(default_factory=list[bytes])

    def write(self, rows: Rows) -> None:
        """Remember what would go through."""
        self.sent.append(written_rows(rows))

    def close(self) -> None:
        """Nothing is open."""


def batch_of(
    *results: Result, states: Sequence[RunState] = ("retrying",), run_id: str = "run_1"
) -> bytes:
    """The batch that a worker's ledger makes of results and changes of state."""
    pipe = SentPipe(run_id)

    async def run() -> None:
        ledger = BatchLedger(pipe, Redactor(), lambda: "now")
        kept = [ledger.keep(result, [attempt(result.index)]) for result in results]
        await asyncio.gather(*kept, *(ledger.move(state) for state in states))
        await ledger.close()

    asyncio.run(run())
    assert len(pipe.sent) == 1
    return pipe.sent[0]


@dataclass
class PaperWorker:
    """Sends batches, each once the one before is kept, and ends with a code."""

    batches: Sequence[bytes | HolderQuestion] = ()
    code: int = 0
    is_stubborn: bool = False
    """Whether it ends only when it is killed."""
    why: str = ""
    seen: list[str] = field(default_factory=list[str])

    answers: list[Answer] = field(default_factory=list[Answer])

    def __post_init__(self) -> None:
        self._left = list(self.batches)
        self._is_ended = asyncio.Event()

    async def read(self) -> bytes | HolderQuestion:
        """The next batch or question."""
        if self._left:
            return self._left.pop(0)
        if self.is_stubborn:
            await self._is_ended.wait()
        return b""

    def answer(self, question: HolderQuestion, answer: Answer) -> None:
        """Remember it."""
        assert question in self.batches
        self.answers.append(answer)

    def confirm(self) -> None:
        """Remember it."""
        self.seen.append("kept")

    def cancel(self) -> None:
        """Remember it."""
        self.seen.append("cancelled")

    async def wait(self) -> int:
        """The code."""
        if self.is_stubborn:
            await self._is_ended.wait()
        return self.code

    def stop(self) -> None:
        """Remember it."""
        self.seen.append("asked to stop")

    def terminate(self) -> None:
        """Remember it."""
        self.seen.append("asked to end")

    def kill(self) -> None:
        """The end."""
        self.seen.append("killed")
        self._is_ended.set()

    def close(self) -> None:
        """Remember it."""
        self.seen.append("closed")


@dataclass
class PaperCrew:
    """Hands out the workers of each part in turn, the last again and again."""

    is_remote: ClassVar[bool] = False

    workers: Sequence[Sequence[PaperWorker]]
    started: list[tuple[str, Part, list[str]]] = field(
        default_factory=list[tuple[str, Part, list[str]]]
    )
    taken: list[dict[str, float]] = field(default_factory=list[dict[str, float]])
    """What each was started with."""

    def warm(self, count: int) -> None:
        """Paper is always ready."""

    def start(
        self, run_id: str, part: Part, targets: Sequence[str], needs: WorkerNeeds
    ) -> PaperWorker:
        """The next one."""
        self.taken.append(dict(needs.resources))
        before = sum(one[1] == part for one in self.started)
        self.started.append((run_id, part, list(targets)))
        mine = self.workers[part.number]
        return mine[min(before, len(mine) - 1)]

    def close(self) -> None:
        """Nothing waits."""
