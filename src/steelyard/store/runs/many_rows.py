"""Inserts whose statement is made once, for tables that get thousands of rows a second."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from sqlalchemy import Connection, Dialect, Table, insert

AT_ONCE = 64
"""Rows of one statement at most."""


class ManyRows:
    """An insert into a table, in the words of its database.

    Running a statement's rows through SQLAlchemy's parameters costs more than the insert itself;
    and whenever the database is at work the other threads go on, so that a statement for each
    row would have to wait for its turn as often.
    """

    def __init__(self, table: Table, dialect: Dialect) -> None:
        made = insert(table).compile(dialect=dialect)
        self._text = str(made)
        self._names = None if made.positiontup else tuple(table.columns.keys())
        self._start, _, self._group = self._text.partition(" VALUES ")

    def put(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows, whose values stand in the order of the table's columns."""
        if self._names is None:
            for start in range(0, len(rows), AT_ONCE):
                some = rows[start : start + AT_ONCE]
                text = f"{self._start} VALUES {', '.join([self._group] * len(some))}"
                connection.exec_driver_sql(text, tuple(chain.from_iterable(some)))
        elif rows:
            named = [dict(zip(self._names, row, strict=True)) for row in rows]
            connection.exec_driver_sql(self._text, named)
