"""The SQL that differs from database to database; all other statements are SQLAlchemy's."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Float,
    Insert,
    Integer,
    Table,
    and_,
    func,
    insert,
    literal,
    literal_column,
    or_,
)
from sqlalchemy.dialects.sqlite.dml import OnConflictDoNothing, OnConflictDoUpdate
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from steelyard.formats.encoding import without_surrogates
from steelyard.formats.letter_case import in_either_case, letter_cases
from steelyard.store.column_types import Text, Whole

if TYPE_CHECKING:
    from sqlalchemy.sql.compiler import SQLCompiler

MOST_VALUES = 32_766 if sqlite3.sqlite_version_info >= (3, 32) else 999
"""How many values one statement of SQLite takes."""
_LONGEST_PATTERN = 200
_ESCAPE = "/"
CHANGE_COUNT = "PRAGMA data_version"
"""What another connection has committed, as a number that changes with every commit."""
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
NUL, KEPT_NUL = "\0", "\1\1"
"""PostgreSQL keeps no null character in a text: it is written with two others there."""
ONE, KEPT_ONE = "\1", "\1\2"
"""So that no other text means the same, and all keep their order."""


class _KeepOld(OnConflictDoNothing):
    """`ON CONFLICT DO NOTHING` in every database that has it."""

    constraint_target = None
    inherit_cache = True


class _TakeNew(OnConflictDoUpdate):
    """`ON CONFLICT (…) DO UPDATE` in every database that has it."""

    constraint_target = None
    inherit_cache = True


class _Form(FunctionElement[Any]):
    """An expression that each database has its own words for."""

    inherit_cache = True
    in_sqlite = ""
    in_postgresql = ""


class _AsText(_Form):
    type = Text
    inherit_cache = True
    in_sqlite = "CAST({} AS VARCHAR)"
    in_postgresql = "(convert_from({}, 'UTF8') COLLATE \"C\")"


class _JsonField(_Form):
    type = Text
    inherit_cache = True
    # As text: some versions of SQLite take bytes for their own binary form of JSON.
    in_sqlite = "json_extract(CAST({} AS VARCHAR), '$.' || {})"
    in_postgresql = (
        "((replace(replace(convert_from({}, 'UTF8'), "
        r"'\u0001', '\u0001\u0002'), '\u0000', '\u0001\u0001')"
        '::json ->> {}) COLLATE "C")'
    )


class _JsonTotal(_Form):
    type = Float()
    inherit_cache = True
    in_sqlite = "total({})"
    in_postgresql = "coalesce(sum(CAST({} AS DOUBLE PRECISION)), 0.0)"


class _Position(_Form):
    type = Integer()
    inherit_cache = True
    in_sqlite = "instr({}, {})"
    in_postgresql = "strpos({}, {})"


class _IsLike(_Form):
    inherit_cache = True
    in_sqlite = f"({{}} LIKE {{}} ESCAPE '{_ESCAPE}')"
    in_postgresql = f"({{}} ILIKE {{}} ESCAPE '{_ESCAPE}')"


class _Matches(_Form):
    inherit_cache = True
    in_sqlite = "({0} GLOB {1})"
    in_postgresql = "({0} ~ {2})"


class _Now(_Form):
    type = Float()
    inherit_cache = True
    in_sqlite = "((julianday('now') - 2440587.5) * 86400.0)"
    # Not that of the transaction, which may have waited for a lock.
    in_postgresql = "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)"


class _NewestRow(_Form):
    type = Integer()
    inherit_cache = True
    in_sqlite = "(SELECT max(rowid) FROM {})"
    # Its own numbers do not appear in their order: who began first may end last.
    in_postgresql = "(SELECT count(*) FROM {})"


class _ChangeCount(_Form):
    inherit_cache = True
    # Which transactions have ended; the number of commits is told when they are long over.
    in_postgresql = "pg_current_snapshot()::text"


@compiles(_Form)
def _written(form: _Form, compiler: SQLCompiler, **options: Any) -> str:
    words = form.in_postgresql if compiler.dialect.name == "postgresql" else form.in_sqlite
    return words.format(*(compiler.process(clause, **options) for clause in form.clauses))


def insert_new(table: Table) -> Insert:
    """An insert that leaves a row with the same key as it is."""
    kept = insert(table).ext(_KeepOld())
    # Else SQLAlchemy asks for the number when the driver has forgotten it.
    return kept.execution_options(preserve_rowcount=True)


def insert_or_replace(table: Table, key: Mapping[str, Any], values: Mapping[str, Any]) -> Insert:
    """An insert that gives a row with the same key the new values."""
    names = [table.c[name] for name in key]
    return (
        insert(table)
        .values(**key, **values)
        .ext(_TakeNew(index_elements=names, set_=dict(values)))
    )


def newest_row(table: Table) -> ColumnElement[int]:
    """A number that is greater after every new row of a table whose rows stay."""
    return _NewestRow(literal_column(table.name))


def change_count() -> ColumnElement[str]:
    """In PostgreSQL, a text that is another one after every commit."""
    return _ChangeCount()


def as_text(column: ColumnElement[bytes]) -> ColumnElement[str]:
    """The UTF-8 text of a column of bytes."""
    return _AsText(column)


def position(column: ColumnElement[str], text: str) -> ColumnElement[int]:
    """Where a text begins in a column, from 1 on; 0 where it does not stand there."""
    return _Position(column, literal(text, Text))


def contains(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Whether a text stands in a column, letters in either case."""
    text = without_surrogates(text)
    if len(text) > _LONGEST_PATTERN or NUL in text:
        # A pattern cannot be as long as a text, and it ends at a null character.
        return _Position(func.lower(column), literal(text.translate(_LOWER), Text)) > 0
    # Three times as fast: it copies no row to change its letters.
    is_like = _IsLike(column, literal(f"%{_like(text)}%", Text))
    if text.isascii():
        return is_like
    is_found = _contains_beyond_ascii(column, text)
    return and_(is_like, is_found) if any(sign.isascii() for sign in text) else is_found


def _like(text: str) -> str:
    """A pattern of LIKE, which knows the case of ASCII alone: any other sign may be any sign."""
    for special in (_ESCAPE, "%", "_"):
        text = text.replace(special, _ESCAPE + special)
    return "".join(sign if sign.isascii() else "_" for sign in text)


def _contains_beyond_ascii(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """A pattern that begins with a class is slow: each case of the first letter has its own."""
    rest = "".join(_glob(letter_cases(sign)) for sign in text[1:])
    expression = literal(in_either_case(text), Text)
    return or_(
        *(
            _Matches(column, literal(f"*{_glob(first)}{rest}*", Text), expression)
            for first in letter_cases(text[0])
        )
    )


def _glob(cases: str) -> str:
    """One sign of a pattern of GLOB."""
    return f"[{cases}]" if len(cases) > 1 or cases in "*?[" else cases


def json_field(column: ColumnElement[bytes], name: str) -> ColumnElement[Any]:
    """A field of the JSON object in a column of bytes; NULL where it is null or missing."""
    return _JsonField(column, literal_column(f"'{name}'"))


def json_total(column: ColumnElement[bytes], name: str) -> ColumnElement[float]:
    """The sum of a number over the JSON objects in a column; 0.0 where there is none."""
    return _JsonTotal(json_field(column, name))


def whole_sum(column: ColumnElement[int]) -> ColumnElement[int]:
    """The sum of whole numbers as one; that of 64 bits is another type in PostgreSQL."""
    return func.sum(column).cast(Whole)


def database_seconds() -> ColumnElement[float]:
    """The database's own clock, so that the clocks of its users need not agree."""
    return _Now()


def write_alone(connection: Connection, what: str) -> None:
    """Let nobody else write what has this name before the transaction ends.

    In SQLite nobody else writes anything.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || %s, 0))",
            (f"steelyard {what}",),
        )
    else:
        connection.exec_driver_sql("UPDATE schema_version SET version = version WHERE 0")


def take_time(connection: Connection) -> None:
    """Let the transaction lie idle for as long as it takes: it keeps nobody from a run.

    In SQLite each may.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")


def transaction_number(connection: Connection) -> str | None:
    """By which to ask later whether the transaction was committed; only a server may forget."""
    if connection.dialect.name != "postgresql":
        return None
    return connection.exec_driver_sql("SELECT pg_current_xact_id()::text").scalar_one()


def is_committed(connection: Connection, number: str) -> bool | None:
    """Whether a transaction was committed; None while the server has not decided that."""
    query = "SELECT pg_xact_status(%s::xid8)"
    status = connection.exec_driver_sql(query, (number,)).scalar_one()
    return None if status == "in progress" else status == "committed"


def overwrite_deleted(connection: Connection) -> None:
    """Overwrite what is deleted from now on, instead of unlinking it from its page alone.

    PostgreSQL cannot: the space is used again by and by.
    """
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA secure_delete=ON")


def truncate_log(connection: Connection) -> None:
    """Leave nothing in the log of the database, where that belongs to the project alone."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
