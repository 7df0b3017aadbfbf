"""The audit log of a database that was just restored."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.audit import AuditEntry
from steelyard.store.audit_log import AuditStore
from steelyard.store.database import empty_log, open_database


class RestoredLog:
    """Opens the database, which migrates one of an older version, for one entry."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, entry: AuditEntry) -> None:
        """Keep one, and leave no log of the database behind."""
        engine = open_database(self._path)
        try:
            AuditStore(lambda: engine).add(entry)
            empty_log(engine)
        finally:
            engine.dispose()
