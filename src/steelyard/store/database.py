"""The database behind a project: opened, set up and versioned."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any, cast
from weakref import WeakKeyDictionary

from sqlalchemy import URL, Connection, Engine, Select, create_engine, event, inspect, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

# Its tables are among those that are made.
import steelyard.store.trace_tables  # noqa: F401  # pyright: ignore[reportUnusedImport]
from steelyard.errors import SchemaVersionError, UnavailableError
from steelyard.store.dialects import insert_new, truncate_log
from steelyard.store.file_names import take_name
from steelyard.store.private_files import close_to_others, make_private_folder, private
from steelyard.store.review_tables import metadata
from steelyard.store.tables import SCHEMA_VERSION, versions

_INODES: WeakKeyDictionary[Engine, int] = WeakKeyDictionary()
"""The file that each engine has opened."""
_HELP = {
    "SQLITE_FULL": "make room on the disk, then `steelyard resume` the run",
    "SQLITE_IOERR": "make room on the disk, or look after it, then `steelyard resume` the run",
    "SQLITE_CORRUPT": "the file is damaged: put it back from a backup, or move it away and start "
    "anew; finished runs can be read from their folders",
    "SQLITE_NOTADB": "the file is no database: put it back from a backup, or move it away and "
    "start anew; finished runs can be read from their folders",
    "SQLITE_READONLY": "make the file and its folder writable",
    "SQLITE_CANTOPEN": "make the folder writable",
    "SQLITE_PERM": "make the file and its folder writable",
    "SQLITE_BUSY": "another process holds it; try again when that has ended",
    "SQLITE_LOCKED": "another process holds it; try again when that has ended",
}
_VERSION = select(versions.c.version)
_PAGE_BYTES = 8 * 1024
_STATEMENTS = 512
"""So many are kept compiled: inserts of every number of rows are among them."""


def open_database(path: Path, patience_s: float = 30.0) -> Engine:
    """The project's SQLite file, made when it is not there; another version's file is refused.

    Where another process holds a lock it is waited for so long.
    """
    _make_private(path)
    address = URL.create("sqlite", database=str(path))
    engine = create_engine(
        address, connect_args={"timeout": patience_s, "cached_statements": _STATEMENTS}
    )
    event.listen(engine, "connect", partial(_configure, patience_s))
    # Within the transaction: a newer version may have changed the schema since it was opened.
    event.listen(engine, "commit", require_schema)
    try:
        with engine.begin() as connection:
            _set_up(connection, path)
    except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
        raise UnavailableError(f"cannot use the store {path}: {reason_of(error)}") from None
    _INODES[engine] = path.stat().st_ino
    return engine


def _make_private(path: Path) -> None:
    """SQLite gives its log the rights of the file beside it, and that one those of the umask."""
    make_private_folder(path.parent)
    # What is wrong with the file SQLite says better.
    with suppress(OSError):
        if not path.exists():
            _make_empty(path)
    for name in ("", "-wal", "-shm"):
        close_to_others(path.with_name(path.name + name))


def _make_empty(path: Path) -> None:
    # To close the file itself would end the locks of whoever has opened it here meanwhile.
    part = path.with_name(f".{path.name}.{os.getpid()}-{get_ident()}.part")
    with open(part, "xb", opener=private):
        pass
    try:
        take_name(part, path)
    finally:
        part.unlink(missing_ok=True)


def reason_of(error: Exception) -> str:
    """The message of the database without the statement, with its code and advice."""
    cause = getattr(error, "orig", None) or error
    name = getattr(cause, "sqlite_errorname", None)
    if isinstance(cause, UnicodeDecodeError):
        name = "SQLITE_CORRUPT"
    if name is None:
        return str(cause)
    helps = next((advice for code, advice in _HELP.items() if name.startswith(code)), None)
    return f"{cause} ({name})" + (f"; {helps}" if helps else "")


@contextmanager
def translated_errors(engine: Engine) -> Generator[None]:
    """Raise errors of the database as UnavailableError with a reason."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError) as error:
        raise UnavailableError(
            f"the store {engine.url.database} fails: {reason_of(error)}"
        ) from None


def streamed(engine: Engine, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
    """The rows of a query, a thousand at a time."""
    with translated_errors(engine), engine.connect() as connection:
        yield from connection.execute(query.execution_options(yield_per=1000))


def few_rows(engine: Engine, query: Select[*tuple[Any, ...]], **values: object) -> Sequence[Any]:
    """All rows of a query that was made once, with the values of its parameters."""
    with translated_errors(engine), engine.connect() as connection:
        return connection.execute(query, values).all()


def empty_log(engine: Engine) -> None:
    """Leave nothing of what was overwritten in the log of the database."""
    with translated_errors(engine), engine.begin() as connection:
        truncate_log(connection)


def require_schema(connection: Connection) -> None:
    """Refuse a store of another schema version: nothing is committed to it, or read from it."""
    found = connection.execute(_VERSION).scalar()
    if found != SCHEMA_VERSION:
        raise SchemaVersionError(
            f"the store {connection.engine.url.database} has schema version {found} by now, and "
            f"this process writes {SCHEMA_VERSION}; stop it and start the version that is in use"
        )


def require_in_place(engine: Engine) -> None:
    """Refuse to go on with a store whose file was deleted, or is another one by now."""
    path = Path(cast(str, engine.url.database))
    try:
        is_same = path.stat().st_ino == _INODES.get(engine)
    except OSError:
        is_same = False
    if not is_same:
        raise UnavailableError(
            f"the store {path} was deleted or replaced while it was used; what this run has kept "
            "since then is lost. Put it back from a backup, or start a new run"
        )


def _configure(patience_s: float, connection: sqlite3.Connection, _record: object) -> None:
    """Every commit is on the disk when it returns, and readers never wait for a writer."""
    # Of a file that is made now. In pages of the usual size no result would fit into one.
    connection.execute(f"PRAGMA page_size={_PAGE_BYTES}")
    deadline = time.monotonic() + patience_s
    while not _is_wal(connection, deadline):
        time.sleep(0.01)
    connection.execute("PRAGMA synchronous=FULL")
    # macOS alone heeds it, where a sync otherwise ends in the cache of the disk.
    connection.execute("PRAGMA fullfsync=ON")
    # Only for what is undone when a statement fails: its notes need no file.
    connection.execute("PRAGMA temp_store=MEMORY")


def _is_wal(connection: sqlite3.Connection, deadline: float) -> bool:
    """Whether the mode is set; while another process makes the file, SQLite refuses at once."""
    try:
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error) or time.monotonic() > deadline:
            raise
        return False
    return True


def _set_up(connection: Connection, path: Path) -> None:
    """Make what is not there yet; two processes may do so at once."""
    found = None
    if inspect(connection).has_table(versions.name):
        found = connection.execute(select(versions.c.version)).scalar()
    if found == SCHEMA_VERSION:
        return
    if found is not None and found < SCHEMA_VERSION:
        from steelyard.store.migrations import migrate  # noqa: PLC0415 - seldom needed

        migrate(connection, found)
        return
    if found is not None:
        raise SchemaVersionError(
            f"the store {path} has schema version {found}; this Steelyard reads "
            f"{SCHEMA_VERSION}. Use the version that wrote it, or another project folder"
        )
    for table in metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))
    connection.execute(insert_new(versions), {"version": SCHEMA_VERSION})
