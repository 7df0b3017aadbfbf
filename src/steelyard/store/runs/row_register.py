"""Keeps what the worker processes of a run have found out; the only one who writes to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import NamedTuple

import msgspec

from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import StoreAwayError
from steelyard.model.run import RecordStatus, RunState
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import Rows, RowWriter
from steelyard.store.runs.worker_pipe import read_rows
from steelyard.store.tables import results

_INDEX, _REPEAT, _STATUS, _FACTS = (
    results.c.keys().index(name) for name in ("idx", "repeat", "status", "facts")
)


class Sent(NamedTuple):
    """What was in a batch, for whoever watches the run."""

    states: tuple[RunState, ...]
    outcomes: tuple[tuple[RecordStatus, bool | None], ...]
    """The status of each result, and whether it has passed."""
    places: tuple[tuple[int, int], ...]
    """Its index and repeat."""


class _Passed(msgspec.Struct):
    passed: bool | None


_read_passed = msgspec.json.Decoder(_Passed).decode


class _Batch(NamedTuple):
    """What a process has sent, and who waits until it is kept."""

    sent: bytes
    kept: Future[Sent]


class RowRegister:
    """Commits in a thread of its own; what has come in meanwhile is one commit.

    A commit costs the same for one batch as for those of all processes, and on a slow disk or
    server they would wait for one another.
    """

    def __init__(self, writer: RowWriter) -> None:
        self._writer = writer
        self._waiting: SimpleQueue[_Batch] = SimpleQueue()
        self._thread = ThreadPoolExecutor(1, "steelyard-register")

    async def keep(self, batch: bytes) -> Sent:
        """Keep the rows of a batch; what they say of the run's state is not for the store."""
        kept: Future[Sent] = Future()
        self._waiting.put(_Batch(batch, kept))
        self._thread.submit(self._keep_all)
        return await asyncio.wrap_future(kept)

    def warn(self, message: str, at: str) -> None:
        """Keep a warning among the events of the run; called in any thread."""
        rows = Rows(warnings=[(message, at)])
        # Nobody waits for it: what is kept next raises the error of the store.
        with suppress(RuntimeError):  # the run has ended
            self._thread.submit(self._writer.write, rows)

    async def settle(self, holders: str) -> None:
        """Log the calls that a process may have made before it was killed."""
        settle = self._writer.settle
        await asyncio.get_running_loop().run_in_executor(self._thread, settle, holders)

    async def close(self) -> None:
        """Commit what is left, and let go of the database."""
        await asyncio.to_thread(self._thread.shutdown)
        self._writer.close()

    def _keep_all(self) -> None:
        """Keep everything that waits; of several calls, the first does it all."""
        waiting = [self._waiting.get() for _ in range(self._waiting.qsize())]
        batches = [one for one in waiting if one.kept.set_running_or_notify_cancel()]
        if batches:
            self._keep(batches)

    def _keep(self, batches: Sequence[_Batch]) -> None:
        try:
            rows = Rows()
            sent = [_taken(one.sent, rows) for one in batches]
            self._writer.write(rows)
        except BaseException as error:  # noqa: BLE001 - raised where each is waited for
            if len(batches) > 1 and not isinstance(error, StoreAwayError):
                # What is wrong with one of them is no reason to lose the others.
                for one in batches:
                    self._keep([one])
                return
            for one in batches:
                one.kept.set_exception(error)
            return
        for one, said in zip(batches, sent, strict=True):
            one.kept.set_result(said)


def _taken(batch: bytes, rows: Rows) -> Sent:
    """Add the rows of a batch to those that are written together."""
    more = read_rows(batch)
    states: tuple[RunState, ...] = tuple(state for state, _ in more.states)
    more.states.clear()
    rows.add(more)
    return Sent(
        states,
        tuple((row[_STATUS], _read_passed(row[_FACTS]).passed) for row in more.results),
        tuple((row[_INDEX], row[_REPEAT]) for row in more.results),
    )


def run_ledger(
    store: RunStore, run_id: str, redact: Redactor, now: Callable[[], str]
) -> BatchLedger:
    """The ledger of a run that this process holds."""
    return BatchLedger(RowWriter(store.engine, store.lease(run_id)), redact, now)
