"""Keeps what the worker processes of a run have found out; the only one who writes to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import msgspec

from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.run import RecordStatus, RunState
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
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


class RowRegister:
    """Commits batches one after the other, in a thread of its own."""

    def __init__(self, writer: RowWriter) -> None:
        self._writer = writer
        self._thread = ThreadPoolExecutor(1, "steelyard-register")

    async def keep(self, batch: bytes) -> Sent:
        """Keep the rows of a batch; what they say of the run's state is not for the store."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._keep, batch)

    async def settle(self, holders: str) -> None:
        """Log the calls that a process may have made before it was killed."""
        settle = self._writer.settle
        await asyncio.get_running_loop().run_in_executor(self._thread, settle, holders)

    async def close(self) -> None:
        """Commit what is left, and let go of the database."""
        await asyncio.to_thread(self._thread.shutdown)
        self._writer.close()

    def _keep(self, batch: bytes) -> Sent:
        rows = read_rows(batch)
        states: tuple[RunState, ...] = tuple(state for state, _ in rows.states)
        rows.states.clear()
        self._writer.write(rows)
        return Sent(
            states,
            tuple((row[_STATUS], _read_passed(row[_FACTS]).passed) for row in rows.results),
            tuple((row[_INDEX], row[_REPEAT]) for row in rows.results),
        )


def run_ledger(
    store: RunStore, run_id: str, redact: Redactor, now: Callable[[], str]
) -> BatchLedger:
    """The ledger of a run that this process holds."""
    return BatchLedger(RowWriter(store.engine, store.lease(run_id)), redact, now)
