"""The SQL that differs from database to database; all other statements are SQLAlchemy's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Insert,
    Integer,
    String,
    Table,
    column,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.dialects.sqlite import insert

from steelyard.formats.encoding import without_surrogates
from steelyard.formats.letter_case import letter_cases

_UNIX_EPOCH = 2440587.5
_DAY_S = 86400.0
_LONGEST_PATTERN = 200
CHANGE_COUNT = "PRAGMA data_version"
"""What another connection has committed, as a number that changes with every commit."""


def insert_new(table: Table) -> Insert:
    """An insert that leaves a row with the same key as it is."""
    return insert(table).on_conflict_do_nothing()


def insert_or_replace(table: Table, key: Mapping[str, Any], values: Mapping[str, Any]) -> Insert:
    """An insert that gives a row with the same key the new values."""
    return insert(table).values(**key, **values).on_conflict_do_update(set_=values)


def newest_row(table: Table) -> ColumnElement[int]:
    """A number that is greater after every new row of a table whose rows stay."""
    return select(func.max(column("rowid", Integer))).select_from(table).scalar_subquery()


def as_text(column: ColumnElement[bytes]) -> ColumnElement[str]:
    """The UTF-8 text of a column of bytes."""
    return column.cast(String)


def contains(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """Whether a text stands in a column, letters in either case."""
    text = without_surrogates(text)
    if not text.isascii() and len(text) <= _LONGEST_PATTERN and "\0" not in text:
        return _contains_beyond_ascii(column, text)
    if len(text) > _LONGEST_PATTERN or "\0" in text:
        # A pattern cannot be as long as a text, and it ends at a null character.
        return func.instr(func.lower(column), func.lower(text)) > 0
    # Three times as fast: it copies no row to change its letters.
    return column.contains(text, autoescape=True)


def _contains_beyond_ascii(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    """LIKE knows the case of ASCII alone, and a pattern that begins with a class is slow."""
    rest = "".join(f"[{letter_cases(sign)}]" for sign in text[1:])
    first = (f"[{one}]" if one in "*?[" else one for one in letter_cases(text[0]))
    is_found = or_(*(column.op("GLOB", is_comparison=True)(f"*{one}{rest}*") for one in first))
    if not any(sign.isascii() for sign in text):
        return is_found
    signs = ("_" if not sign.isascii() else f"/{sign}" if sign in "/%_" else sign for sign in text)
    return column.like(f"%{''.join(signs)}%", escape="/") & is_found


def json_field(column: ColumnElement[bytes], name: str) -> ColumnElement[Any]:
    """A field of the JSON object in a column of bytes; NULL where it is null or missing."""
    # As text: some versions of SQLite take bytes for their own binary form of JSON.
    return func.json_extract(as_text(column), f"$.{name}")


def json_total(column: ColumnElement[bytes], name: str) -> ColumnElement[float]:
    """The sum of a number over the JSON objects in a column; 0.0 where there is none."""
    return func.total(json_field(column, name))


def database_seconds() -> ColumnElement[float]:
    """The database's own clock, so that the clocks of its users need not agree."""
    return (func.julianday("now") - _UNIX_EPOCH) * literal(_DAY_S)


def overwrite_deleted(connection: Connection) -> None:
    """Overwrite what is deleted from now on, instead of unlinking it from its page alone."""
    connection.exec_driver_sql("PRAGMA secure_delete=ON")


def truncate_log(connection: Connection) -> None:
    """Leave nothing in the log of the database."""
    connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
