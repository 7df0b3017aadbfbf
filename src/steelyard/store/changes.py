"""Whether anything was committed to the database, told without reading it."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from steelyard.store.database import translated_errors
from steelyard.store.dialects import CHANGE_COUNT

if TYPE_CHECKING:
    from sqlalchemy import Engine


class StoreChanges:
    """Counts the commits of other connections, in this process or another.

    The database counts for each connection, so that one is kept for this alone.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._cursor: Any = None

    def count(self) -> int:
        """A number that is another one after a commit."""
        with self._lock, translated_errors(self._engine):
            if self._cursor is None:
                connection = self._engine.raw_connection()
                connection.detach()
                self._cursor = connection.cursor()
            return self._cursor.execute(CHANGE_COUNT).fetchone()[0]

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._cursor is not None:
                self._cursor.connection.close()
                self._cursor = None
