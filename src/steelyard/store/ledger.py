"""Keeps results in batches: a thread commits whatever has arrived as soon as it is free."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from sqlalchemy.exc import SQLAlchemyError

from steelyard.contracts.run_artifacts.facts import Facts, facts_of
from steelyard.contracts.run_artifacts.rows import (
    failure_row,
    prediction_row,
    score_row,
    validation_row,
)
from steelyard.engine.metrics import FAILED
from steelyard.engine.redaction import Redactor, json_bytes
from steelyard.errors import RunError
from steelyard.model.json_value import JsonObject
from steelyard.model.run import Attempt, Result, RunState
from steelyard.model.verdict import CheckResult
from steelyard.store.database import reason_of
from steelyard.store.many_rows import ManyRows
from steelyard.store.runs import move_run, note_redactions
from steelyard.store.tables import answers, attempts, results, scores

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from steelyard.store.leases import Lease

BATCH = 512
GATHER_S = 0.025
"""How long results are gathered for one commit, unless there are enough before."""
ENOUGH = 48
_LOOK_S = 0.005
_KNOWN_IDS = 1000
_encode = msgspec.json.Encoder().encode


class _Entry(NamedTuple):
    result: Result | None
    attempts: Sequence[Attempt]
    state: RunState | None
    kept: asyncio.Future[None]


class BatchLedger:
    """The engine's ledger over a database; used inside one event loop."""

    def __init__(
        self, engine: Engine, lease: Lease, redact: Redactor, now: Callable[[], str]
    ) -> None:
        self._engine = engine
        self._lease = lease
        self._run_id = lease.run_id
        self._redact = redact
        self._ids: dict[str, str] = {}
        self._now = now
        self._attempts, self._results, self._scores, self._answers = (
            ManyRows(table, engine.dialect) for table in (attempts, results, scores, answers)
        )
        self._connection: Connection | None = None
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="steelyard-ledger", daemon=True)
        self._thread.start()

    def keep(self, result: Result | None, attempts: Sequence[Attempt]) -> asyncio.Future[None]:
        """Keep a result with its attempts in one transaction."""
        kept: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Entry(result, attempts, None, kept))
        return kept

    def move(self, state: RunState) -> Awaitable[None]:
        """Keep a change of state."""
        kept: asyncio.Future[None] = self._loop.create_future()
        self._queue.put(_Entry(None, (), state, kept))
        return kept

    async def close(self) -> None:
        """Commit what is left and end the thread."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _write(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._batch()
            error = self._commit(batch)
            try:
                self._loop.call_soon_threadsafe(_settle, batch, error)
            except RuntimeError:
                break  # the loop is closed, and nobody waits any more
        self._hang_up()

    def _batch(self) -> tuple[list[_Entry], bool]:
        """All that waits, as soon as there is anything; and whether more can come."""
        batch: list[_Entry] = []
        entry = self._queue.get()
        if entry is not None:
            # One commit for many costs far less than one each; nobody waits for it this soon.
            until = time.monotonic() + GATHER_S
            while self._queue.qsize() < ENOUGH and time.monotonic() < until:
                time.sleep(_LOOK_S)
        while entry is not None:
            batch.append(entry)
            if len(batch) >= BATCH:
                return batch, True
            try:
                entry = self._queue.get_nowait()
            except queue.Empty:
                return batch, True
        return batch, False

    def _commit(self, batch: list[_Entry]) -> Exception | None:
        try:
            # One connection for all: to open and reset one takes as long as many inserts.
            if self._connection is None:
                self._connection = self._engine.connect()
            with self._connection.begin():
                self._insert(self._connection, batch)
        except RunError as error:
            return error
        except SQLAlchemyError as error:
            self._hang_up()
            return RunError(f"the store refuses results: {reason_of(error)}")
        except Exception as error:  # noqa: BLE001 - whoever waits must be told, whatever it is
            return RunError(f"a result cannot be kept: {type(error).__name__}: {error}")
        return None

    def _hang_up(self) -> None:
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._connection = None

    def _insert(self, connection: Connection, batch: list[_Entry]) -> None:
        self._lease.require(connection)
        kept = [entry.result for entry in batch if entry.result]
        self._attempts.put(
            connection, [self._attempt(tried) for entry in batch for tried in entry.attempts]
        )
        self._results.put(connection, [self._result(result) for result in kept])
        self._scores.put(connection, [row for result in kept for row in self._checked(result)])
        self._answers.put(
            connection,
            [
                (self._run_id, result.answer_key, result.index, result.repeat)
                for result in kept
                if result.answer_key
            ],
        )
        if counts := self._redact.take_counts():
            note_redactions(connection, self._run_id, counts)
        for entry in batch:
            if entry.state:
                move_run(connection, self._run_id, entry.state, self._now())

    def _result(self, result: Result) -> tuple[object, ...]:
        is_failure = result.status in FAILED
        own = (result.record_sha256 or "").encode("ascii")
        return (
            self._run_id,
            result.index,
            result.repeat,
            result.status,
            self._bytes(prediction_row(result), own),
            self._bytes(validation_row(result), own),
            self._bytes(failure_row(result)) if is_failure else None,
            self._bytes(facts_of(result)),
        )

    def _checked(self, result: Result) -> Iterator[tuple[object, ...]]:
        if result.verdict is None:
            return
        for place, entry in enumerate(result.verdict.results):
            row = self._bytes(score_row(entry))
            yield self._run_id, result.index, result.repeat, place, self._id(entry, place), row

    def _id(self, entry: CheckResult, place: int) -> str:
        """A check's id as it may be written; two that differ stay two."""
        if entry.check not in self._ids:
            if len(self._ids) >= _KNOWN_IDS:
                self._ids.clear()
            self._ids[entry.check] = self._redact.text(entry.check)
        clean = self._ids[entry.check]
        return clean if clean == entry.check else f"{clean} {place}"

    def _attempt(self, tried: Attempt) -> tuple[object, ...]:
        row = self._bytes(tried)
        return self._run_id, tried.index, tried.repeat, tried.call, tried.attempt, row

    def _bytes(self, row: JsonObject | Facts | Attempt, own: bytes = b"") -> bytes:
        try:
            return self._redact(_encode(row), own)
        except UnicodeEncodeError:
            return self._redact(json_bytes(msgspec.to_builtins(row)), own)


def _settle(batch: list[_Entry], error: Exception | None) -> None:
    for entry in batch:
        if entry.kept.cancelled():
            continue
        if error:
            entry.kept.set_exception(error)
        else:
            entry.kept.set_result(None)
