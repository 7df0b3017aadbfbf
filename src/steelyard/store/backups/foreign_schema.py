"""Refuses a database whose schema is not the one that this product makes.

A trigger or a view that somebody else has put into a database would act on every later change.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from steelyard.errors import InvalidError
from steelyard.store.review_tables import metadata

_TABLES = {table.name for table in metadata.tables.values()}
_INDEXES = {str(index.name) for table in metadata.tables.values() for index in table.indexes}
_STATEMENT = re.compile(r'CREATE (TABLE|INDEX|UNIQUE INDEX) "?(\w+)"?\s*(?:\(|ON )')
"""How SQLite itself writes down what it has made, whatever spelling was used to make it."""


def require_known_objects(path: Path) -> None:
    """Refuse triggers, views and every table and index that no version of the product makes."""
    with closing(sqlite3.connect(path)) as database:
        found = database.execute(
            "SELECT type, name, sql FROM sqlite_master ORDER BY name"
        ).fetchall()
    for kind, name, sql in found:
        if not _is_known(kind, str(name), sql):
            raise _foreign(f"the {kind} {str(name)[:200]!r}")


def require_known_columns(path: Path) -> None:
    """Refuse a database of this version whose tables and indexes are not those of a new one."""
    engine = create_engine("sqlite://")
    try:
        metadata.create_all(engine)
        with closing(sqlite3.connect(path)) as database, engine.connect() as connection:
            fresh: Any = connection.connection.driver_connection
            for name in sorted(_TABLES):
                if _columns(database, name) != _columns(fresh, name):
                    raise _foreign(f"other columns in the table '{name}'")
            for name in sorted(_INDEXES):
                if _indexed(database, name) != _indexed(fresh, name):
                    raise _foreign(f"another index '{name}'")
    finally:
        engine.dispose()


def _is_known(kind: object, name: str, sql: object) -> bool:
    """The text decides as well: SQLite reads it, whatever kind and name stand beside it."""
    if sql is None:  # SQLite makes these by itself, for keys
        return kind == "index" and name.startswith("sqlite_autoindex_")
    names = {"table": _TABLES, "index": _INDEXES}.get(str(kind), set[str]())
    match = _STATEMENT.match(str(sql))
    return (
        name in names
        and match is not None
        and match[2] == name
        and match[1].endswith(str(kind).upper())
    )


def _columns(database: sqlite3.Connection, table: str) -> set[tuple[Any, ...]]:
    """Name, type, whether it may be null, place in the key, and whether it is computed."""
    query = 'SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)'
    return set(database.execute(query, (table,)))


def _indexed(database: sqlite3.Connection, index: str) -> list[tuple[Any, ...]]:
    query = "SELECT seqno, name, coll FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno"
    return database.execute(query, (index,)).fetchall()


def _foreign(what: str) -> InvalidError:
    return InvalidError(
        f"the database of the back-up has {what}, which Steelyard does not make; "
        "nothing was restored"
    )
