"""Suites and targets in the database."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, delete, select

from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject
from steelyard.model.names import is_setting_name
from steelyard.ports import Warn
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.dialects import insert_or_replace, write_alone
from steelyard.store.tables import saved_settings as saved


class SavedSettingStore:
    """Entries of the project file's form, by kind and name."""

    def __init__(self, engine: Engine, warn: Warn = lambda _message: None) -> None:
        self._engine = engine
        self._warn = warn

    def all(self, kind: str) -> dict[str, JsonObject]:
        """Every entry by its name; one that cannot be read is left out with a warning."""
        query = select(saved.c.name, saved.c.row).where(saved.c.kind == kind)
        with translated_errors(self._engine), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(saved.c.name)).all()
        found: dict[str, JsonObject] = {}
        for name, data in rows:
            row = read_row(name, data)
            if row is None:
                self._warn(f"an entry of the saved {kind} is ignored: {name!a} cannot be read")
            else:
                found[name] = row
        return found

    @contextmanager
    def changing(self, kind: str, name: str) -> Generator[SettingTransaction]:
        """A change of one entry in one transaction; an exception undoes all of it."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            write_alone(connection, saved.name)
            yield SettingTransaction(connection, kind, name)

    def delete(self, kind: str, name: str, entry: AuditEntry) -> bool:
        """Remove an entry and log it; False where there is none."""
        query = delete(saved).where(saved.c.kind == kind, saved.c.name == name)
        with translated_errors(self._engine), self._engine.begin() as connection:
            is_there = connection.execute(query).rowcount > 0
            if is_there:
                add_entry(connection, entry)
            return is_there


def read_row(name: object, data: object) -> JsonObject | None:
    """What is stored under a name; None where it is nothing that was ever saved."""
    if not (isinstance(name, str) and is_setting_name(name) and isinstance(data, bytes)):
        return None
    try:
        row = parse_json(data)
    except ParseError:
        return None
    return row if isinstance(row, dict) else None


class SettingTransaction:
    """One entry while nobody else can change it."""

    def __init__(self, connection: Connection, kind: str, name: str) -> None:
        self._connection = connection
        self._key = {"kind": kind, "name": name}
        query = select(saved.c.row).where(saved.c.kind == kind, saved.c.name == name)
        row = connection.execute(query).scalar()
        self.before = None if row is None else read_row(name, row)

    def put(self, row: JsonObject, entry: AuditEntry) -> None:
        """Keep the entry, in the place of the one before, and log it."""
        values = {"saved_at": entry.at, "row": json.dumps(row).encode("ascii")}
        self._connection.execute(insert_or_replace(saved, self._key, values))
        add_entry(self._connection, entry)
