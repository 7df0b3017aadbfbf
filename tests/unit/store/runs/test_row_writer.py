"""Rows are inserted as they are given, however the database names its parameters."""

from __future__ import annotations

import pytest
from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, create_engine, select
from sqlalchemy.exc import IntegrityError

from steelyard.store.runs.row_writer import AT_ONCE, ManyRows

metadata = MetaData()
things = Table(
    "things",
    metadata,
    Column("key", Integer, primary_key=True),
    Column("row", LargeBinary),
    Column("check", String),
)
ROWS = [(1, b"\x00\xff", "a"), (2, None, "':check %s ?"), (3, b"", None)]


@pytest.mark.parametrize("paramstyle", ["qmark", "named"])
@pytest.mark.parametrize("count", [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE])
def test_so_many_rows_are_there_however_many_go_into_one_statement(
    paramstyle: str, count: int
) -> None:
    engine = create_engine("sqlite://", paramstyle=paramstyle)
    metadata.create_all(engine)
    many = ManyRows(things, engine.dialect)
    rows = [(number, b"row", f"check {number}") for number in range(count)]
    with engine.begin() as connection:
        many.put(connection, rows)
        found = [tuple(row) for row in connection.execute(select(things))]
    engine.dispose()

    assert found == rows


@pytest.mark.parametrize("paramstyle", ["qmark", "named"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_every_row_is_there_as_it_was_given(paramstyle: str, count: int) -> None:
    engine = create_engine("sqlite://", paramstyle=paramstyle)
    metadata.create_all(engine)
    many = ManyRows(things, engine.dialect)
    with engine.begin() as connection:
        many.put(connection, ROWS[:count])
        found = [tuple(row) for row in connection.execute(select(things))]
    engine.dispose()

    assert found == ROWS[:count]


@pytest.mark.parametrize("paramstyle", ["qmark", "named"])
def test_a_key_that_is_taken_refuses_all_rows(paramstyle: str) -> None:
    engine = create_engine("sqlite://", paramstyle=paramstyle)
    metadata.create_all(engine)
    many = ManyRows(things, engine.dialect)
    with pytest.raises(IntegrityError), engine.begin() as connection:
        many.put(connection, [*ROWS, ROWS[0]])
    with engine.connect() as connection:
        found = list(connection.execute(select(things)))
    engine.dispose()

    assert found == []
