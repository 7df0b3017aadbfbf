"""Which runs wait for a worker."""

from __future__ import annotations

from sqlalchemy import Engine, update

from steelyard.model.audit import AuditEntry
from steelyard.model.run import TERMINAL
from steelyard.results.stored_run import StoredRun
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.runs.run_events import add_event
from steelyard.store.runs.run_queries import newest_first
from steelyard.store.runs.run_rows import stored_run
from steelyard.store.tables import runs


class RunQueue:
    """The runs of a project that workers execute."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def waiting(self) -> list[StoredRun]:
        """Those that workers hold or held, and the first that nobody holds; the oldest first."""
        query = newest_first().where(runs.c.is_queued).order_by(None)
        query = query.order_by(runs.c.created_at, runs.c.run_id)
        with translated_errors(self._engine), self._engine.connect() as connection:
            free = connection.execute(query.where(runs.c.owner.is_(None)).limit(1)).all()
            held = connection.execute(query.where(runs.c.owner.is_not(None))).all()
        found = [stored_run(row) for row in (*free, *held)]
        return sorted(found, key=lambda run: (run.created_at, run.run_id))

    def unfinished(self) -> list[StoredRun]:
        """The runs that have not ended."""
        query = newest_first().where(runs.c.status.not_in(TERMINAL))
        with translated_errors(self._engine), self._engine.connect() as connection:
            return [stored_run(row) for row in connection.execute(query)]

    def add(self, run_id: str) -> None:
        """Let the next worker that is free execute a run."""
        query = update(runs).where(runs.c.run_id == run_id).values(is_queued=True)
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(query)

    def resume(self, run_id: str, entry: AuditEntry) -> bool:
        """Add a run that has not ended and is not being cancelled; False for any other."""
        query = update(runs).where(
            runs.c.run_id == run_id,
            runs.c.cancel_requested == 0,
            runs.c.status.not_in(TERMINAL),
        )
        with translated_errors(self._engine), self._engine.begin() as connection:
            is_added = connection.execute(query.values(is_queued=True)).rowcount > 0
            if is_added:
                add_entry(connection, entry)
        return is_added

    def remove(self, run_id: str, at: str, why: str) -> None:
        """Let no worker execute a run by itself any more, with a warning that says why."""
        is_waiting = (runs.c.run_id == run_id) & runs.c.is_queued
        query = update(runs).where(is_waiting).values(is_queued=False)
        with translated_errors(self._engine), self._engine.begin() as connection:
            if connection.execute(query).rowcount:
                add_event(connection, run_id, at, "warning", {"message": why})
