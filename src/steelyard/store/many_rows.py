"""Inserts whose statement is made once, for tables that get thousands of rows a second."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Dialect, Table, insert


class ManyRows:
    """An insert into a table, in the words of its database.

    Running a statement's rows through SQLAlchemy's parameters costs more than the insert itself.
    """

    def __init__(self, table: Table, dialect: Dialect) -> None:
        made = insert(table).compile(dialect=dialect)
        self._text = str(made)
        self._names = None if made.positiontup else tuple(table.columns.keys())

    def put(self, connection: Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows, whose values stand in the order of the table's columns."""
        if not rows:
            return
        if self._names is None:
            connection.exec_driver_sql(self._text, list(rows))
        else:
            named = [dict(zip(self._names, row, strict=True)) for row in rows]
            connection.exec_driver_sql(self._text, named)
