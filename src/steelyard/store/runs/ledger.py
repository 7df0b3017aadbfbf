"""Keeps results in batches: a thread commits whatever was gathered as soon as it is free."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from steelyard.engine.claims import Claim, Claims
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import RunError
from steelyard.model.judgement import Judgement
from steelyard.model.run import Private, Result, RunState
from steelyard.results.attempts import Attempt
from steelyard.store.runs.result_rows import ResultRows
from steelyard.store.runs.row_writer import Rows

BATCH = 512
GATHER_S = 0.025
"""How long results are gathered for one commit, unless there are enough before."""
ENOUGH = 96
"""Results that are worth a commit of their own; with half as many a record costs a tenth more."""
_BLOCK_S = 0.005
"""How long the event loop makes rows without a look at anything else."""


class _Batch(NamedTuple):
    """What is written together, and who waits for it."""

    rows: Rows
    kept: list[asyncio.Future[None]]


class Writer(Protocol):
    """Where the rows of a run go; what is written is there to stay."""

    run_id: str

    def write(self, rows: Rows) -> None:
        """Keep rows; what cannot be kept is a `RunError`."""
        ...

    def close(self) -> None:
        """Nothing more comes."""
        ...


class BatchLedger:
    """The engine's ledger over a store; used inside one event loop."""

    def __init__(self, writer: Writer, redact: Redactor, now: Callable[[], str]) -> None:
        self._writer = writer
        self._made = ResultRows(writer.run_id, redact)
        self._now = now
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Callable[[], Rows], asyncio.Future[None]]] = deque()
        self._timer: asyncio.Handle | None = None
        self._claims: list[Claims[Any]] = []
        self._is_claiming = False
        """Whether claims are to be kept as soon as the thread is free."""
        self._committing = 0
        """Entries that the thread has."""
        self._queue: queue.SimpleQueue[_Batch | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="steelyard-ledger", daemon=True)
        self._thread.start()

    def keep(
        self, result: Result | None, attempts: Sequence[Attempt], private: Private = ()
    ) -> asyncio.Future[None]:
        """Keep a result with its attempts in one transaction; without one, `private` is said."""
        if result is None:
            return self._keep(lambda: self._made.of_attempts(attempts, private))
        return self._keep(lambda: self._made.of_result(result, attempts))

    def keep_answer(self, result: Result, attempts: Sequence[Attempt]) -> asyncio.Future[None]:
        """Keep an answer that is yet to be judged, with its attempts, in one transaction."""
        return self._keep(lambda: self._made.of_answer(result, attempts))

    def keep_judgement(
        self, judgement: Judgement, attempts: Sequence[Attempt]
    ) -> asyncio.Future[None]:
        """Keep what came of a call to a judge, with its last attempt, in one transaction."""
        return self._keep(lambda: self._made.of_judgement(judgement, attempts))

    def move(self, state: RunState) -> Awaitable[None]:
        """Keep a change of state, for which the whole run waits."""
        kept = self._keep(lambda: Rows(states=[(state, self._now())]))
        self.hurry()
        return kept

    def warn(self, message: str) -> None:
        """Keep a warning among the events of the run."""
        kept = self._keep(lambda: self._made.of_warning(message, self._now()))
        # Nobody waits for it; the next result that is stored raises the store's error.
        kept.add_done_callback(lambda done: done.cancelled() or done.exception())

    def join(self, claims: Claims[Any]) -> None:
        """Have claims kept with every commit."""
        self._claims.append(claims)

    def claim(self) -> None:
        """Keep claims as soon as the thread is free: a call waits for them."""
        self._is_claiming = bool(self._committing)
        if not self._committing:
            self._hand_over()

    def hurry(self) -> None:
        """Somebody cannot go on: commit what there is, unless a commit is under way already."""
        if self._waiting and not self._committing:
            self._hand_over()

    async def close(self) -> None:
        """Commit what is left and end the thread."""
        self._hand_over()
        while self._waiting:
            self._hand_over()
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _keep(self, make: Callable[[], Rows]) -> asyncio.Future[None]:
        """Gather for one commit, which costs far less than one each; nobody waits this soon."""
        kept: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append((make, kept))
        if len(self._waiting) == ENOUGH:
            self._hand_over()
        elif self._timer is None:
            self._timer = self._loop.call_later(GATHER_S, self._hand_over)
        return kept

    def _hand_over(self) -> None:
        """Make rows of what waits, and give them to the thread.

        One right after the other, which takes half the time that each would take on its own; and
        not in the thread, because two that want the interpreter keep each other waiting.
        """
        if self._timer:
            self._timer.cancel()
            self._timer = None
        batch, until = _Batch(Rows(), []), time.monotonic() + _BLOCK_S
        while self._waiting and not (batch.kept and time.monotonic() > until):
            make, kept = self._waiting.popleft()
            try:
                batch.rows.add(make())
            except Exception as error:  # noqa: BLE001 - any error must reach the waiting caller
                _settle([kept], _unkept(error))
            else:
                batch.kept.append(kept)
        if not self._waiting:
            self._add_claims(batch)
        if batch.kept:
            self._committing += len(batch.kept)
            self._queue.put(batch)
        if self._waiting:
            self._timer = self._loop.call_soon(self._hand_over)

    def _add_claims(self, batch: _Batch) -> None:
        """What may be asked once a batch is kept, in which is everything that came before."""
        for claims in self._claims:
            claim = claims.take()
            if claim:
                batch.rows.add(self._made.of_claim(claims.name, claim.calls))
                kept: asyncio.Future[None] = self._loop.create_future()
                kept.add_done_callback(partial(_confirm, claims, claim))
                batch.kept.append(kept)

    def _write(self) -> None:
        is_open = True
        while is_open:
            batch, is_open = self._batch()
            error = self._commit(batch.rows) if batch.kept else None
            try:
                self._loop.call_soon_threadsafe(self._settled, batch.kept, error)
            except RuntimeError:
                break  # the loop is closed, and nobody waits any more
        self._writer.close()

    def _settled(self, kept: Sequence[asyncio.Future[None]], error: Exception | None) -> None:
        self._committing -= len(kept)
        _settle(kept, error)
        if self._is_claiming and not self._committing:
            self._is_claiming = False
            self._loop.call_soon(self._hand_over)

    def _batch(self) -> tuple[_Batch, bool]:
        """All that was handed over, as soon as there is anything; and whether more can come."""
        batch, more = _Batch(Rows(), []), self._queue.get()
        while more is not None:
            batch.rows.add(more.rows)
            batch.kept.extend(more.kept)
            if len(batch.kept) >= BATCH or self._queue.empty():
                return batch, True
            more = self._queue.get()
        return batch, False

    def _commit(self, rows: Rows) -> Exception | None:
        try:
            self._writer.write(rows)
        except RunError as error:
            return error
        except Exception as error:  # noqa: BLE001 - any error must reach the waiting caller
            return _unkept(error)
        return None


def _unkept(error: Exception) -> RunError:
    return RunError(f"a result cannot be kept: {type(error).__name__}: {error}")


def _confirm(claims: Claims[Any], claim: Claim, kept: asyncio.Future[None]) -> None:
    claims.committed(claim, kept.exception())


def _settle(waiting: Sequence[asyncio.Future[None]], error: Exception | None) -> None:
    for kept in waiting:
        if kept.cancelled():
            continue
        if error:
            kept.set_exception(error)
        else:
            kept.set_result(None)
