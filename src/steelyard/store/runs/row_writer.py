"""The rows of results on their way into the database: all of a batch, or none."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import structs
from sqlalchemy import Connection, Dialect, Table, bindparam, delete, insert, update
from sqlalchemy.exc import SQLAlchemyError

from steelyard.engine.record_work import TARGET_CALL
from steelyard.errors import RunError, StoreAwayError
from steelyard.model.run import RunState
from steelyard.results.failures import FAILED_STATUSES
from steelyard.results.runs import Progress
from steelyard.store.clock import SystemClock
from steelyard.store.database import is_away, place_of, reason_of
from steelyard.store.dialects import (
    MOST_VALUES,
    insert_new,
    is_committed,
    transaction_number,
)
from steelyard.store.runs.claims import put_claim, settle_claims
from steelyard.store.runs.run_events import add_event
from steelyard.store.runs.run_queries import progress_of
from steelyard.store.runs.state_changes import move_run
from steelyard.store.tables import (
    answered,
    answers,
    attempts,
    judgements,
    parts,
    redactions,
    results,
    scores,
)

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from steelyard.store.runs.leases import Lease


AT_ONCE = 128
"""Rows of one statement at most."""

TableRow: TypeAlias = tuple[Any, ...]
"""Values in the order of a table's columns."""


PATIENCE_S = 60.0
"""So long a server that is away is waited for."""
_PAUSE_S = 0.2
PROGRESS_S = 1.0
"""How long at least from one event of progress to the next."""
_STATUS = results.c.keys().index("status")
_CALL = attempts.c.keys().index("call")
_PLACE = ("at_run", "at_index", "at_repeat")
_SETTLE = delete(answered).where(
    *(
        column == bindparam(name)
        for column, name in zip(
            (answered.c.run_id, answered.c.idx, answered.c.repeat), _PLACE, strict=True
        )
    )
)


_KEEP_PART = insert_new(parts)


class ManyRows:
    """An insert into a table, in the words of its database.

    Running a statement's rows through SQLAlchemy's parameters costs more than the insert itself;
    and whenever the database is at work the other threads go on, so that a statement for each
    row would have to wait for its turn as often.
    """

    def __init__(self, table: Table, dialect: Dialect) -> None:
        made = insert(table).compile(dialect=dialect)
        self._text = str(made)
        self._names = None if made.positiontup else tuple(table.columns.keys())
        self._start, _, self._group = self._text.partition(" VALUES ")
        self._at_once = min(AT_ONCE, MOST_VALUES // len(table.columns))

    def put(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows, whose values stand in the order of the table's columns."""
        if self._names is None:
            for start in range(0, len(rows), self._at_once):
                some = rows[start : start + self._at_once]
                text = f"{self._start} VALUES {', '.join([self._group] * len(some))}"
                connection.exec_driver_sql(text, tuple(chain.from_iterable(some)))
        elif rows:
            named = [dict(zip(self._names, row, strict=True)) for row in rows]
            connection.exec_driver_sql(self._text, named)


class Rows(msgspec.Struct, array_like=True):
    """What is kept together."""

    attempts: list[TableRow] = []
    results: list[TableRow] = []
    scores: list[TableRow] = []
    answers: list[TableRow] = []
    redactions: dict[str, int] = {}
    """How much of each kind was replaced in these rows."""
    states: list[tuple[RunState, str]] = []
    """Changes of the run's state, each with its time."""
    answered: list[TableRow] = []
    judgements: list[TableRow] = []
    settled: list[TableRow] = []
    """The places (run, index, repeat) of answers that judges have finished with."""
    parts: list[TableRow] = []
    """Long texts that several records show; another process may have kept the same."""
    claims: dict[str, bytes] = {}
    """The calls that may be under way, by whoever makes them."""
    warnings: list[tuple[str, str]] = []
    """What was warned of, each with its time."""

    def add(self, more: Rows) -> None:
        """Take in what else is kept."""
        self.attempts += more.attempts
        self.results += more.results
        self.scores += more.scores
        self.answers += more.answers
        self.states += more.states
        self.answered += more.answered
        self.judgements += more.judgements
        self.settled += more.settled
        self.parts += more.parts
        self.claims.update(more.claims)
        self.warnings += more.warnings
        for kind, count in more.redactions.items():
            self.redactions[kind] = self.redactions.get(kind, 0) + count


class RowWriter:
    """Writes to a run as long as its lease holds; used by one thread."""

    def __init__(self, engine: Engine, lease: Lease) -> None:
        self._engine = engine
        self._lease = lease
        self.run_id = lease.run_id
        self._attempts, self._results, self._scores = (
            ManyRows(table, engine.dialect) for table in (attempts, results, scores)
        )
        self._answers, self._answered, self._judgements = (
            ManyRows(table, engine.dialect) for table in (answers, answered, judgements)
        )
        self._connection: Connection | None = None
        self._clock = SystemClock()
        self._number: str | None = None
        """That of the transaction whose end is not known yet."""
        self._progress: Progress | None = None
        self._progress_at = -math.inf
        self._waiting: set[tuple[int, int]] = set()
        """The places of records that have failed and are tried again."""

    def write(self, rows: Rows) -> None:
        """One transaction; what it refuses is a `RunError`."""
        self._transact(lambda connection: self._insert(connection, rows))

    def settle(self, holders: str) -> None:
        """Log the calls that holders may have made before they were killed."""
        self._transact(lambda connection: self._settle(connection, holders))

    def _settle(self, connection: Connection, holders: str) -> None:
        self._lease.require(connection)
        settle_claims(connection, self.run_id, holders)

    def _transact(self, write: Callable[[Connection], None]) -> None:
        """Write once, also when the server is restarted meanwhile."""
        deadline = self._clock.monotonic() + PATIENCE_S
        self._number = None
        while True:
            try:
                self._try(write)
            except SQLAlchemyError as error:
                self.close()
                is_gone = is_away(error, self._engine)
                if not is_gone or self._clock.monotonic() > deadline:
                    reason = reason_of(error, self._engine)
                    kind = StoreAwayError if is_gone else RunError
                    message = f"the store {place_of(self._engine)} refuses results: {reason}"
                    raise kind(message) from None
                # What was counted so far is counted anew in the store.
                self._progress = None
                time.sleep(_PAUSE_S)
            else:
                return

    def _try(self, write: Callable[[Connection], None]) -> None:
        # One connection for all: to open and reset one takes as long as many inserts.
        if self._connection is None:
            self._connection = self._engine.connect()
        # Whoever lost the connection while committing does not know what became of it.
        while self._number is not None:
            with self._connection.begin():
                was_committed = is_committed(self._connection, self._number)
            if was_committed:
                return
            if was_committed is None:
                time.sleep(_PAUSE_S)
            else:
                self._number = None
        with self._connection.begin():
            write(self._connection)
            self._number = transaction_number(self._connection)

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            with suppress(SQLAlchemyError):
                self._connection.close()
            self._connection = None

    def _insert(self, connection: Connection, rows: Rows) -> None:
        self._lease.require(connection)
        self._attempts.put(connection, rows.attempts)
        self._results.put(connection, rows.results)
        self._scores.put(connection, rows.scores)
        self._answers.put(connection, rows.answers)
        self._answered.put(connection, rows.answered)
        self._judgements.put(connection, rows.judgements)
        if rows.parts:
            names = parts.c.keys()
            found = [dict(zip(names, row, strict=True)) for row in rows.parts]
            connection.execute(_KEEP_PART, found)
        if rows.settled:
            connection.execute(
                _SETTLE, [dict(zip(_PLACE, row, strict=True)) for row in rows.settled]
            )
        for holder, row in rows.claims.items():
            put_claim(connection, self.run_id, holder, row)
        if rows.redactions:
            _note_redactions(connection, self.run_id, rows.redactions)
        for message, at in rows.warnings:
            add_event(connection, self.run_id, at, "warning", {"message": message})
        self._note_waiting(rows)
        if rows.results or rows.attempts or rows.states:
            self._report_progress(connection, rows.results, is_due=bool(rows.states))
        for state, at in rows.states:
            move_run(connection, self.run_id, state, at)

    def _note_waiting(self, rows: Rows) -> None:
        """An attempt without a result, or an answer for judges, is not the last one."""
        kept = {row[1:3] for row in chain(rows.results, rows.answered)}
        tried = {row[1:3] for row in rows.attempts if row[_CALL] == TARGET_CALL}
        self._waiting |= tried - kept
        self._waiting -= kept

    def _report_progress(
        self, connection: Connection, kept: list[TableRow], *, is_due: bool
    ) -> None:
        """Add an event with the progress, unless one that is not due comes within a second."""
        known = self._progress
        if known is None:
            self._progress = progress_of(connection, self.run_id)
        else:
            failed = sum(row[_STATUS] in FAILED_STATUSES for row in kept)
            self._progress = Progress(known.rows + len(kept), known.failed_rows + failed)
        self._progress = structs.replace(self._progress, retrying_rows=len(self._waiting))
        now = self._clock.monotonic()
        if is_due or now - self._progress_at >= PROGRESS_S:
            self._progress_at = now
            data = structs.asdict(self._progress)
            add_event(connection, self.run_id, self._clock.stamp(), "progress", data)


def _note_redactions(connection: Connection, run_id: str, counts: Mapping[str, int]) -> None:
    """Add to the numbers of what was replaced, within a transaction."""
    for kind, count in counts.items():
        where = (redactions.c.run_id == run_id) & (redactions.c.kind == kind)
        more = update(redactions).where(where).values(found=redactions.c.found + count)
        if connection.execute(more).rowcount == 0:
            row = {"run_id": run_id, "kind": kind, "found": count}
            connection.execute(insert(redactions), row)
