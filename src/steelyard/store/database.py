"""The database behind a project: opened, set up and versioned."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import event, inspect, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

# Its tables are among those that are made.
import steelyard.store.trace_tables  # noqa: F401  # pyright: ignore[reportUnusedImport]
from steelyard.errors import SchemaVersionError, StoreAwayError, UnavailableError
from steelyard.store.dialects import insert_new, take_time, truncate_log, write_alone
from steelyard.store.review_tables import metadata
from steelyard.store.sqlite_file import note_file, require_file, sqlite_engine, sqlite_reason
from steelyard.store.tables import SCHEMA_VERSION, versions

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, Select

_VERSION = select(versions.c.version)
_FAULTS = (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError)


def open_database(place: Path | str, patience_s: float = 30.0) -> Engine:
    """A project's SQLite file, made when it is not there, or the PostgreSQL server at an address.

    Another version's store is refused. A lock of another process is waited for so long.
    """
    engine = _engine(place, patience_s)
    # Within the transaction: a newer version may have changed the schema since it was opened.
    event.listen(engine, "commit", require_schema)
    try:
        with engine.begin() as connection:
            _set_up(connection)
    except BaseException as error:
        engine.dispose()
        if not isinstance(error, _FAULTS):
            raise
        reason = reason_of(error, engine)
        raise UnavailableError(f"cannot use the store {place_of(engine)}: {reason}") from None
    if is_file(engine):
        note_file(engine)
    return engine


def _engine(place: Path | str, patience_s: float) -> Engine:
    if isinstance(place, Path):
        return sqlite_engine(place, patience_s)
    from steelyard.store.postgresql import postgresql_engine  # noqa: PLC0415 - only where it is used

    return postgresql_engine(place, patience_s)


def is_file(engine: Engine) -> bool:
    """Whether a store is a file of the project."""
    return engine.dialect.name == "sqlite"


def place_of(engine: Engine) -> str:
    """Where a store is; of a server, without who logs in and how."""
    if is_file(engine):
        return str(engine.url.database)
    from steelyard.store.postgresql import shown_address  # noqa: PLC0415 - only where it is used

    return shown_address(engine.url)


def reason_of(error: Exception, engine: Engine) -> str:
    """The message of the database without the statement, with its code and advice."""
    cause = getattr(error, "orig", None) or error
    if is_file(engine):
        return sqlite_reason(cause)
    from steelyard.store.postgresql import postgresql_reason  # noqa: PLC0415 - only where it is used

    return postgresql_reason(engine.url, cause)


def is_away(error: Exception, engine: Engine) -> bool:
    """Whether the server of a store could not be asked."""
    if is_file(engine):
        return False
    from steelyard.store.postgresql import is_lost  # noqa: PLC0415 - only where it is used

    return is_lost(error)


@contextmanager
def translated_errors(engine: Engine) -> Generator[None]:
    """Raise errors of the database as UnavailableError with a reason."""
    try:
        yield
    except _FAULTS as error:
        kind = StoreAwayError if is_away(error, engine) else UnavailableError
        reason = reason_of(error, engine)
        raise kind(f"the store {place_of(engine)} fails: {reason}") from None


def streamed(engine: Engine, query: Select[*tuple[Any, ...]]) -> Iterator[Any]:
    """The rows of a query, a thousand at a time."""
    some = query.execution_options(yield_per=1000)
    with (
        translated_errors(engine),
        engine.connect() as connection,
    ):
        # Whoever reads them may do something else in between.
        take_time(connection)
        with connection.execute(some) as rows:
            yield from rows


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
            f"the store {place_of(connection.engine)} has schema version {found} by now, and "
            f"this process writes {SCHEMA_VERSION}; stop it and start the version that is in use"
        )


def require_in_place(engine: Engine) -> None:
    """Refuse to go on with a store whose file was deleted, or is another one by now.

    What a server holds nobody can take away from under it.
    """
    if is_file(engine):
        require_file(engine)


def _set_up(connection: Connection) -> None:
    """Make what is not there yet; several processes may do so at once."""
    if not is_file(connection.engine):
        from steelyard.store.postgresql import require_server  # noqa: PLC0415 - only where it is used

        require_server(connection)
    found = _version(connection)
    if found == SCHEMA_VERSION:
        return
    if not is_file(connection.engine):
        write_alone(connection, "schema")
        found = _version(connection)
    if found == SCHEMA_VERSION:
        return
    if found is not None and found < SCHEMA_VERSION:
        from steelyard.store.migrations import migrate  # noqa: PLC0415 - seldom needed

        take_time(connection)
        migrate(connection, found)
        return
    if found is not None:
        raise SchemaVersionError(
            f"the store {place_of(connection.engine)} has schema version {found}; this Steelyard "
            f"reads {SCHEMA_VERSION}. Use the version that wrote it, or another project folder"
        )
    for table in metadata.sorted_tables:
        connection.execute(CreateTable(table, if_not_exists=True))
        for index in table.indexes:
            connection.execute(CreateIndex(index, if_not_exists=True))
    connection.execute(insert_new(versions), {"version": SCHEMA_VERSION})


def _version(connection: Connection) -> int | None:
    """The schema version of what is there."""
    if not inspect(connection).has_table(versions.name):
        return None
    return connection.execute(_VERSION).scalar()
