"""Runs in the database: made, moved through their states, found and read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from msgspec import structs
from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, select, update

from steelyard.engine.record_work import TARGET_CALL
from steelyard.errors import NotFoundError, RunError
from steelyard.formats.encoding import without_surrogates
from steelyard.model.audit import CANCEL, AuditEntry, Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.run import RunState, no_such_run
from steelyard.results.attempts import read_attempt
from steelyard.results.metrics import Taken
from steelyard.results.record_validation import read_record_validation
from steelyard.results.runs import EVERY_RUN, Progress, RunEvent, RunPosition, RunQuery
from steelyard.results.stored_rows import with_scores
from steelyard.results.stored_run import StoredRun
from steelyard.store.audit_log import add_entry, last_caller
from steelyard.store.database import (
    empty_log,
    few_rows,
    require_in_place,
    streamed,
    translated_errors,
)
from steelyard.store.dialects import database_seconds
from steelyard.store.runs import run_queries
from steelyard.store.runs.attempt_order import in_turn
from steelyard.store.runs.changes import StoreChanges
from steelyard.store.runs.claims import settle_claims
from steelyard.store.runs.copies import copied_part, copy_kept
from steelyard.store.runs.holds import held, note_hold, note_stop, uncounted
from steelyard.store.runs.leases import LEASE_S, Lease
from steelyard.store.runs.new_runs import add_run
from steelyard.store.runs.run_events import add_event, events_after, last_event, warnings_of
from steelyard.store.runs.run_rows import encoded, stored_run
from steelyard.store.runs.state_changes import move_run, redact_options
from steelyard.store.runs.withdrawals import has_answered, withdraw
from steelyard.store.tables import (
    NO_RECORD,
    answers,
    attempts,
    parts,
    redactions,
    results,
    runs,
    scores,
)


class KeptResult(NamedTuple):
    """A stored result in the forms in which it was kept."""

    prediction: bytes
    validation: bytes
    failure: bytes | None
    facts: bytes
    repeat: int


class RunStore:
    """The runs of one project."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.leases: dict[str, Lease] = {}
        """The runs that this process holds."""
        self.changes = StoreChanges(engine)

    def close(self) -> None:
        """Let go of the database, and of every run that is still held."""
        for run_id in list(self.leases):
            self._let_go(run_id)
        self.changes.close()
        self.engine.dispose()

    def create(
        self, run: StoredRun, entry: AuditEntry | None = None, warnings: Sequence[str] = ()
    ) -> None:
        """A new run in its first state, with what was warned of while it was planned.

        Its owner holds it, unless nobody has claimed it yet.
        """
        with self._writing() as connection:
            add_run(connection, run, entry, warnings)
        if run.fence:
            self._hold(run.run_id, run.fence)

    def lease(self, run_id: str) -> Lease:
        """This process's hold on a run that it made or claimed."""
        if run_id not in self.leases:
            raise RunError(f"{run_id} is not held by this process")
        return self.leases[run_id]

    def move(self, run_id: str, state: RunState, at: str, caller: Caller | None = None) -> None:
        """Go to another state, if the diagram allows it."""
        require_in_place(self.engine)
        with self._writing() as connection:
            self.lease(run_id).require(connection)
            move_run(connection, run_id, state, at, caller)

    def claim(self, run: StoredRun, owner: str, at: str, entry: AuditEntry | None = None) -> bool:
        """Take a run over; False when it is no longer as it was read, so that only one can.

        Calls that the process before it may have made are logged as interrupted.
        """
        is_unchanged = (runs.c.fence == run.fence) & (runs.c.status == run.status)
        if run.lease_left_s is not None and run.lease_left_s <= 0:
            # Whoever woke up since then has renewed his lease, and keeps the run.
            is_unchanged &= runs.c.lease_until <= database_seconds()
        query = update(runs).where(runs.c.run_id == run.run_id, is_unchanged)
        until = database_seconds() + LEASE_S
        taken = query.values(owner=owner, fence=run.fence + 1, lease_until=until)
        # A worker does not wait for another one that is taking the same run.
        free = select(runs.c.run_id).where(runs.c.run_id == run.run_id)
        free = free.with_for_update(skip_locked=run.is_queued)
        with self._writing() as connection:
            is_free = connection.execute(free).first() is not None
            if not is_free or connection.execute(taken).rowcount != 1:
                return False
            settle_claims(connection, run.run_id)
            note_hold(connection, run.run_id, run.fence + 1, at)
            if entry:
                add_entry(connection, entry)
        self._hold(run.run_id, run.fence + 1)
        return True

    def copy_kept(self, parent: str, run_id: str, again: Collection[str]) -> None:
        """Copy what another run has kept into a new one, but for the results of some statuses."""
        with self._writing() as connection:
            self.lease(run_id).require(connection)
            copy_kept(connection, parent, run_id, again)

    def copied(self, run_id: str) -> Taken:
        """How much of a run another one has made: its rows, attempts and cost."""
        with translated_errors(self.engine), self.engine.connect() as connection:
            return copied_part(connection, run_id)

    def request_cancel(self, run_id: str, entry: AuditEntry | None = None) -> None:
        """Ask whoever works on a run to cancel it; the first to ask is logged."""
        is_first = (runs.c.run_id == run_id) & (runs.c.cancel_requested == 0)
        query = update(runs).where(is_first).values(cancel_requested=1)
        with self._writing() as connection:
            if connection.execute(query).rowcount and entry:
                add_entry(connection, entry)

    def release(self, run_id: str, at: str, why: str = "") -> None:
        """Let another process go on with a run, with a warning that says why, if it is known."""
        query = update(runs).where(runs.c.run_id == run_id)
        try:
            lease = self.lease(run_id)
            with self._writing() as connection:
                lease.require(connection)
                connection.execute(query.values(owner=None, lease_until=None))
                note_stop(connection, run_id, lease.fence, at, why)
        finally:
            self._let_go(run_id)

    def finish(self, run_id: str, state: RunState, at: str, summary: JsonObject) -> None:
        """The last state of a run, with its summary."""
        require_in_place(self.engine)
        with self._writing() as connection:
            self.lease(run_id).require(connection)
            last = structs.asdict(run_queries.progress_of(connection, run_id))
            add_event(connection, run_id, at, "progress", last)
            is_cancelled = state == "cancelled"
            caller = last_caller(connection, CANCEL, run_id) if is_cancelled else None
            move_run(connection, run_id, state, at, caller)
            is_redacted = redact_options(connection, run_id)
            values = {"summary": encoded(summary), "owner": None, "lease_until": None}
            connection.execute(update(runs).where(runs.c.run_id == run_id).values(**values))
        if is_redacted:
            empty_log(self.engine)
        self._let_go(run_id)

    def find(self, name: str) -> StoredRun:
        """The run with an id, a unique prefix of one, `latest`, or `latest~N` (N before it)."""
        back = run_queries.is_latest(name)
        found: Sequence[Any] = ()
        if not back:
            values = {"run_id": without_surrogates(name)}
            found = few_rows(self.engine, run_queries.BY_ID, **values)
        found = found or few_rows(self.engine, run_queries.named(name))
        if not found:
            raise no_such_run(name, has_runs=not back or int(back[1] or 0) > 0)
        if len(found) > 1:
            raise NotFoundError(f"'{name}' fits several runs; give more of the id")
        return stored_run(found[0])

    def ids(self) -> set[str]:
        """The ids of all runs."""
        return {row.run_id for row in self._rows(select(runs.c.run_id))}

    def list(
        self, limit: int, query: RunQuery = EVERY_RUN, after: RunPosition | None = None
    ) -> list[StoredRun]:
        """The runs that a query finds after a position, newest first."""
        found = run_queries.newest_first().where(*run_queries.wanted(query, after))
        return [stored_run(row) for row in self._rows(found.limit(limit))]

    def progress(self, run_ids: Sequence[str]) -> dict[str, Progress]:
        """How many rows runs have kept; of those at work, up to two seconds ago."""
        if not run_ids:
            return {}
        with translated_errors(self.engine), self.engine.connect() as connection:
            return run_queries.progress_now(connection, run_ids)

    def states_of(self, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """Every state of runs with its time, in order."""
        with translated_errors(self.engine), self.engine.connect() as connection:
            return run_queries.states_of(connection, run_ids)

    def state_times(self, run_id: str) -> list[tuple[str, str]]:
        """Every state with its time, in order."""
        return self.states_of([run_id])[run_id]

    def events(self, run_id: str, after: int, limit: int) -> list[RunEvent]:
        """The events of a run after a sequence number, in order."""
        return events_after(self.engine, run_id, after, limit)

    def warnings(self, run_id: str, limit: int = 100) -> list[str]:
        """What a run has warned of, in order; the first so many."""
        return warnings_of(self.engine, run_id, limit)

    def last_event(self, run_id: str) -> int:
        """The sequence number of the last event of a run; 0 where there is none."""
        with translated_errors(self.engine), self.engine.connect() as connection:
            return last_event(connection, run_id)

    def interruptions(self, run_id: str) -> list[tuple[str | None, str]]:
        """When the run was stopped, as far as anybody could say, and when it was resumed."""
        return [(old.ended_at, new.began_at) for old, new in pairwise(self._rows(held(run_id)))]

    def uncounted_calls(self, run_id: str, error_code: str) -> int:
        """How many calls used no attempt: cut off by a stop or a crash, or made in an outage."""
        return next(row.found for row in self._rows(uncounted(run_id, error_code)))

    def has_answered(self, run_id: str, target: str) -> bool:
        """Whether a target has answered any call of a run; copied answers are another's."""
        with translated_errors(self.engine), self.engine.connect() as connection:
            return has_answered(connection, run_id, target)

    def withdraw(self, run_id: str, labels: Collection[str]) -> None:
        """Forget failures with some labels of targets that have never answered in a run."""
        with self._writing() as connection:
            self.lease(run_id).require(connection)
            withdraw(connection, run_id, labels)

    def redactions(self, run_id: str) -> dict[str, int]:
        """How much of each kind was replaced in what is kept."""
        query = select(redactions.c.kind, redactions.c.found).where(redactions.c.run_id == run_id)
        return {row.kind: row.found for row in self._rows(query)}

    def on_cancel(self, run_id: str, callback: Callable[[], None]) -> None:
        """Call back, in another thread, when cancellation of a held run is requested."""
        self.lease(run_id).on_cancel(callback)

    def is_cancelling(self, run_id: str) -> bool:
        """Whether somebody has asked for a run to be cancelled."""
        query = select(runs.c.cancel_requested).where(runs.c.run_id == run_id)
        return any(row.cancel_requested for row in self._rows(query))

    def spent_usd(self, run_id: str) -> float:
        """What the calls of a run have cost so far."""
        return few_rows(self.engine, run_queries.SPENT, run_id=run_id)[0].spent

    def answers(self, run_id: str | None) -> Iterator[tuple[bytes, str, int, int]]:
        """The questions that a run, or any of the project, has an answer to, and its places."""
        query = select(*answers.c["key", "run_id", "idx", "repeat"])
        for row in self._rows(query.where(answers.c.run_id == run_id) if run_id else query):
            yield row.key, row.run_id, row.idx, row.repeat

    def answer(self, key: bytes, run_id: str, index: int, repeat: int) -> bytes | None:
        """The result that is kept in a place, if it answers a question."""
        is_result = (
            (results.c.run_id == answers.c.run_id)
            & (results.c.idx == answers.c.idx)
            & (results.c.repeat == answers.c.repeat)
        )
        query = (
            select(results.c.prediction)
            .join(answers, is_result)
            .where(
                answers.c.run_id == run_id,
                answers.c.idx == index,
                answers.c.repeat == repeat,
                answers.c.key == key,
            )
        )
        return next((row.prediction for row in self._rows(query)), None)

    def done(self, run_id: str) -> Iterator[tuple[int, int]]:
        """The (index, repeat) of every result that is kept."""
        query = select(results.c.idx, results.c.repeat).where(results.c.run_id == run_id)
        for row in self._rows(query):
            yield row.idx, row.repeat

    def has_results(self, run_id: str) -> bool:
        """Whether any result is kept."""
        return bool(few_rows(self.engine, run_queries.ANY_RESULT, run_id=run_id))

    def tried(self, run_id: str) -> dict[tuple[int, int], tuple[int, str]]:
        """Attempts made for records without a result: how many, and when the first was."""
        kept = select(results.c.idx).where(
            results.c.run_id == attempts.c.run_id,
            results.c.idx == attempts.c.idx,
            results.c.repeat == attempts.c.repeat,
        )
        is_target = attempts.c.call == TARGET_CALL
        query = select(attempts).where(attempts.c.run_id == run_id, is_target, ~kept.exists())
        made: dict[tuple[int, int], tuple[int, str]] = {}
        for row in self._rows(query.order_by(attempts.c.attempt)):
            _, first = made.get((row.idx, row.repeat), (0, read_attempt(row.row).at))
            made[row.idx, row.repeat] = (row.attempt, first)
        return made

    def results(self, run_id: str, begin: int = 0, end: int | None = None) -> Iterator[KeptResult]:
        """Every stored result in dataset order, then repeat, with the scores of its checks.

        From one index on, and up to another.
        """
        by_place = select(scores.c.idx, scores.c.repeat, scores.c.row)
        by_place = by_place.where(scores.c.run_id == run_id, _between(scores, begin, end))
        by_place = by_place.order_by(scores.c.idx, scores.c.repeat, scores.c.place)
        query = select(*(results.c[name] for name in ("idx", "repeat", *KeptResult._fields[:4])))
        query = query.where(results.c.run_id == run_id, _between(results, begin, end))
        query = query.order_by(results.c.idx, results.c.repeat)
        found = self._rows(by_place)
        score = next(found, None)
        for idx, repeat, prediction, validation, failure, facts in self._rows(query):
            listed: list[bytes] = []
            while score is not None and score[0] == idx and score[1] == repeat:
                listed.append(score[2])
                score = next(found, None)
            whole = with_scores(prediction, listed) if listed else prediction
            yield KeptResult(whole, validation, failure, facts, repeat)

    def request_parts(self, run_id: str) -> Iterator[tuple[str, bytes]]:
        """The texts that what several records are asked has in common: hash and JSON, in order."""
        query = select(parts.c.sha256, parts.c.text).where(parts.c.run_id == run_id)
        for row in self._rows(query.order_by(parts.c.sha256)):
            yield row.sha256, row.text

    def record_hashes(self, run_id: str) -> Iterator[tuple[int, str | None]]:
        """The index of every record that has a result, in order, with the hash it had then."""
        query = select(results.c.idx, results.c.validation).where(
            results.c.run_id == run_id, results.c.repeat == 0
        )
        for row in self._rows(query.order_by(results.c.idx)):
            yield row.idx, read_record_validation(row.validation).record_sha256

    def attempt_rows(self, run_id: str, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Every attempt as it was kept, in dataset order, from one index on and up to another.

        Those that are about no record stand before the first.
        """
        order = (attempts.c.idx, attempts.c.repeat, attempts.c.call, attempts.c.attempt)
        query = (
            select(attempts.c.row, *order)
            .where(attempts.c.run_id == run_id, _between(attempts, begin or NO_RECORD, end))
            .order_by(*order)
        )
        for _, made in groupby(self._rows(query), key=itemgetter(1, 2)):
            first, *others = made
            if others:
                yield from in_turn([first, *others])
            else:
                yield first[0]

    def _hold(self, run_id: str, fence: int) -> None:
        """A hold that this process had before, with another fence, is renewed no longer."""
        self._let_go(run_id)
        self.leases[run_id] = Lease(self.engine, run_id, fence)

    def _let_go(self, run_id: str) -> None:
        lease = self.leases.pop(run_id, None)
        if lease:
            lease.end()

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """One transaction."""
        with translated_errors(self.engine), self.engine.begin() as connection:
            yield connection

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
        return streamed(self.engine, query)


def _between(table: Table, begin: int, end: int | None) -> ColumnElement[bool]:
    return table.c.idx >= begin if end is None else table.c.idx.between(begin, end - 1)
