"""Suites and targets in the database."""

from __future__ import annotations

import json

from sqlalchemy import Engine, delete, select

from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.dialects import insert_or_replace
from steelyard.store.tables import saved_settings as saved


class SavedSettingStore:
    """Entries of the project file's form, by kind and name."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def all(self, kind: str) -> dict[str, JsonObject]:
        """Every entry by its name."""
        query = select(saved.c.name, saved.c.row).where(saved.c.kind == kind)
        with translated_errors(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(saved.c.name))
            return {row.name: json.loads(row.row) for row in rows}

    def put(self, kind: str, name: str, row: JsonObject, entry: AuditEntry) -> None:
        """Keep an entry, in the place of one of the same name, and log it."""
        values = {"saved_at": entry.at, "row": json.dumps(row).encode("ascii")}
        query = insert_or_replace(saved, {"kind": kind, "name": name}, values)
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(query)
            add_entry(connection, entry)

    def delete(self, kind: str, name: str, entry: AuditEntry) -> bool:
        """Remove an entry and log it; False where there is none."""
        query = delete(saved).where(saved.c.kind == kind, saved.c.name == name)
        with translated_errors(self._engine), self._engine.begin() as connection:
            is_there = connection.execute(query).rowcount > 0
            if is_there:
                add_entry(connection, entry)
            return is_there
