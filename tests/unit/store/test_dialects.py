"""The SQL of one database stands in one module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import (
    Column,
    Connection,
    LargeBinary,
    MetaData,
    String,
    Table,
    insert,
    select,
)

import steelyard.store
from servers.postgres import postgres
from steelyard.store.database import open_database
from steelyard.store.dialects import as_text, contains, insert_new, json_field, json_total

_OWN = {
    *("database.py", "database_copies.py", "dialects.py", "foreign_schema.py", "migrations.py"),
    *("postgresql.py", "sqlite_file.py"),
}
_OF_ONE = re.compile(
    r"dialects\.sqlite|sqlite3|PRAGMA|json_extract|func\.total|julianday|psycopg|pg_"
)
rows = Table(
    "rows", MetaData(), Column("id", String, primary_key=True), Column("row", LargeBinary)
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.trials)])
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A table of two JSON objects."""
    on_server = postgres().store() if request.param == "postgresql" else nullcontext()
    with on_server as address:
        engine = open_database(address or tmp_path / "steelyard.db")
        with engine.begin() as made:
            rows.create(made)
            kept = {"a": b'{"cost":0.5,"name":"\xc3\xbc"}', "b": b'{"cost":null}'}
            made.execute(insert(rows), [{"id": name, "row": row} for name, row in kept.items()])
            yield made
            rows.drop(made)
        engine.dispose()


def test_no_other_module_writes_the_sql_of_one_database() -> None:
    folder = Path(steelyard.store.__file__).parent
    others = (path for path in folder.rglob("*.py") if path.name not in _OWN)

    assert [path.name for path in others if _OF_ONE.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (select(json_field(rows.c.row, "name")).order_by(rows.c.id), ["ü", None]),
        (select(json_total(rows.c.row, "cost")), [0.5]),
        (select(json_total(rows.c.row, "cost")).where(rows.c.id == "c"), [0.0]),
        (select(rows.c.id).where(as_text(rows.c.row).contains("ü")), ["a"]),
    ],
)
def test_json_is_looked_into(connection: Connection, query: Any, found: list[object]) -> None:
    assert list(connection.execute(query).scalars()) == found


def test_a_row_that_is_there_stays_as_it_is(connection: Connection) -> None:
    added = [
        connection.execute(insert_new(rows), {"id": name, "row": b"{}"}).rowcount
        for name in ("b", "c")
    ]

    assert added == [0, 1]
    assert list(connection.execute(select(rows.c.row).order_by(rows.c.id)).scalars())[1:] == [
        b'{"cost":null}',
        b"{}",
    ]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("Rate of 5_%", True),
        ("RATE OF 5_%", True),
        ("ü/", True),
        ("Ü/", True),
        ("5_%, Ü", True),
        ("5__, Ü", False),
        ("Ü/X", True),
        ("Ü[/]", False),
        ("Ü*", False),
        ("É", False),
        ("^Ü", False),
        ("Ü^", False),
        ("%, Ü/", True),
        ("rate%5", False),
        ("5_5", False),
        ("of 5_% ", False),
        ("\0", False),
        ("\ud800", False),
        ("x" * 300, True),
        ("X" * 300, True),
        ("x" * 301, False),
    ],
)
def test_a_text_is_found_as_it_is_written(
    connection: Connection, text: str, *, is_found: bool
) -> None:
    kept = f"a rate of 5_%, ü/{'x' * 300}".encode()
    connection.execute(insert(rows), [{"id": "c", "row": kept}])

    found = select(rows.c.id).where(contains(as_text(rows.c.row), text))

    assert connection.execute(found).scalars().all() == (["c"] if is_found else [])
