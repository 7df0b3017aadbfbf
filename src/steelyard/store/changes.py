"""Whether anything was committed to the database, or to one run, told without reading it all."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import bindparam, func, select

from steelyard.formats.encoding import without_surrogates
from steelyard.store.database import translated_errors
from steelyard.store.dialects import CHANGE_COUNT
from steelyard.store.tables import audit_log, events, runs

if TYPE_CHECKING:
    from sqlalchemy import Engine

Version: TypeAlias = tuple[object, ...]
"""Compared with another one, and nothing else."""

# Whatever changes an ended run is in the audit log: it may be pruned, and nothing else.
_OF_RUN = select(
    *runs.c["status", "owner", "fence", "is_queued", "cancel_requested"],
    select(func.max(events.c.sequence))
    .where(events.c.run_id == runs.c.run_id)
    .correlate(runs)
    .scalar_subquery(),
    select(func.max(audit_log.c.sequence))
    .where(audit_log.c.subject == runs.c.run_id)
    .correlate(runs)
    .scalar_subquery(),
).where(runs.c.run_id == bindparam("run_id"))


class StoreChanges:
    """Tells versions of the store and of its runs apart, whichever process has changed them.

    The database counts commits for each connection, so that one is kept for this alone.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._cursor: Any = None
        self._of_run = ""

    def version(self, run_id: str | None = None) -> Version:
        """Another one after every commit, or after every change of a run.

        Rows that a run adds while it is executed are not a change of it; states and events are.
        Where no run has this very id, it is the version of the store.
        """
        with self._lock, translated_errors(self._engine):
            cursor = self._cursor or self._connect()
            found = None
            if run_id:
                found = cursor.execute(self._of_run, (without_surrogates(run_id),)).fetchone()
            return found or cursor.execute(CHANGE_COUNT).fetchone()

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.connection.close()
                self._cursor = None

    def _connect(self) -> Any:
        connection = self._engine.raw_connection()
        connection.detach()
        self._cursor = connection.cursor()
        self._of_run = str(_OF_RUN.compile(self._engine))
        return self._cursor
