"""A PostgreSQL server as the store: opened, set up, and refused clearly."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert, inspect, select
from sqlalchemy.exc import DBAPIError

from servers.postgres import postgres
from steelyard.errors import ConfigError, RunError
from steelyard.store import postgresql
from steelyard.store.database import (
    few_rows,
    is_away,
    open_database,
    place_of,
    reason_of,
    streamed,
)
from steelyard.store.dialects import contains, json_field, whole_sum, write_alone
from steelyard.store.review_tables import metadata
from steelyard.store.runs import leases
from steelyard.store.tables import SCHEMA_VERSION, answered, users

if TYPE_CHECKING:
    from sqlalchemy import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An empty store."""
    with postgres().store() as address:
        made = open_database(address)
        yield made
        made.dispose()


def opened_again(engine: Engine) -> Engine:
    """The same store through connections of their own."""
    address = engine.url.set(drivername="postgresql")
    return open_database(address.render_as_string(hide_password=False))


def add_users(engine: Engine, *names: str) -> None:
    rows = [{"name": name, "role": "viewer", "created_at": ""} for name in names]
    with engine.begin() as connection:
        connection.execute(insert(users), rows)


def test_many_may_make_the_store_at_once() -> None:
    with postgres().database() as name:
        address = postgres().address(name)
        with ThreadPoolExecutor(4) as pool:
            engines = list(pool.map(open_database, [address] * 4))
        found = inspect(engines[0]).get_table_names()
        for engine in engines:
            engine.dispose()

        assert set(found) == {table.name for table in metadata.tables.values()}
        assert postgres().execute("SELECT version FROM schema_version", database=name) == [
            (SCHEMA_VERSION,)
        ]


def test_another_schema_version_is_refused_and_left_alone() -> None:
    with postgres().database() as name:
        make = "CREATE TABLE schema_version (version INTEGER PRIMARY KEY)"
        postgres().execute(make, "INSERT INTO schema_version VALUES (99)", database=name)

        with pytest.raises(RunError, match=rf"{name} has schema version 99; this Steelyard"):
            open_database(postgres().address(name))


def test_texts_are_kept_whole_and_in_the_order_of_their_bytes(engine: Engine) -> None:
    names = ["", "\0", "\0\1", "\1", "\1\1", "\1\2", "\2", "A", "Z", "a", "a\0b", "b", "ä", "😀"]
    add_users(engine, *names)

    assert few_rows(engine, select(users.c.name).order_by(users.c.name)) == [(n,) for n in names]
    assert few_rows(engine, select(users.c.name).where(users.c.name == "a\0b")) == [("a\0b",)]
    found = few_rows(engine, select(users.c.name).where(contains(users.c.name, "\0B")))
    assert found == [("a\0b",)]


def test_json_with_a_null_character_is_looked_into(engine: Engine) -> None:
    row = rb'{"record_id":"a\u0000b\u0001","cost":1e3,"text":"\\u0000"}'
    with engine.begin() as connection:
        connection.execute(
            insert(answered), {"run_id": "r", "idx": 2**40, "repeat": 0, "row": row}
        )
    named = json_field(answered.c.row, "record_id") == "a\0b\1"

    assert few_rows(engine, select(answered.c.idx).where(named)) == [(2**40,)]


def test_sums_are_whole_numbers(engine: Engine) -> None:
    rows = [{"run_id": "r", "idx": 2**40, "repeat": number, "row": b"{}"} for number in (1, 2)]
    with engine.begin() as connection:
        connection.execute(insert(answered), rows)
    ((found,),) = few_rows(engine, select(whole_sum(answered.c.idx)))

    assert (type(found), found) == (int, 2**41)


def test_what_is_written_alone_is_written_by_one(engine: Engine) -> None:
    def add(number: int) -> bool:
        with engine.begin() as connection:
            write_alone(connection, "users")
            if connection.execute(select(users.c.name)).first() is None:
                row = {"name": str(number), "role": "admin", "created_at": ""}
                connection.execute(insert(users), row)
                return True
        return False

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(add, range(12))) == 1


def test_a_connection_that_the_server_has_closed_is_replaced(engine: Engine) -> None:
    add_users(engine, "ann")
    database = engine.url.database or ""
    closed = postgres().execute(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    )

    assert closed
    assert few_rows(engine, select(users.c.name)) == [("ann",)]


def test_a_transaction_that_lies_idle_is_ended_and_keeps_nobody_waiting(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a process that was suspended, or whose host has lost its network."""
    monkeypatch.setattr(postgresql, "IDLE_S", 0.2)
    suspended = opened_again(engine)
    with suspended.connect() as connection:
        write_alone(connection, "users")
        add_alone = threading.Thread(target=_write_alone, args=(engine,))
        add_alone.start()
        add_alone.join(20)

        assert not add_alone.is_alive()
        with pytest.raises(DBAPIError) as caught:
            connection.execute(select(users.c.name))
    assert is_away(caught.value, suspended)
    assert "suspended" in reason_of(caught.value, suspended)
    assert few_rows(suspended, select(users.c.name)) == []
    suspended.dispose()


def _write_alone(engine: Engine) -> None:
    with engine.begin() as connection:
        write_alone(connection, "users")


def test_whoever_reads_rows_may_do_something_else_in_between(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "IDLE_S", 0.2)
    reader = opened_again(engine)
    names = [f"{number:05}" for number in range(1500)]
    add_users(engine, *names)
    found = list[str]()
    for row in streamed(reader, select(users.c.name).order_by(users.c.name)):
        if not found:
            time.sleep(0.6)
        found.append(row.name)
    reader.dispose()

    assert found == names


def test_an_idle_transaction_ends_before_the_lease_of_a_run() -> None:
    assert postgresql.IDLE_S < leases.LEASE_S


def test_a_wrong_password_is_told_and_never_shown() -> None:
    postgres().ask_for_password("asked", "s3cret-and-right")
    place = postgres().address().partition("@")[2]

    with pytest.raises(RunError, match="password authentication failed") as refused:
        open_database(f"postgresql://asked:s3cret-but-wrong@{place}")
    assert "s3cret" not in str(refused.value)
    assert "set the right password where `store` gets it from" in str(refused.value)


def test_a_server_that_cannot_be_reached_is_told() -> None:
    with pytest.raises(RunError, match="start the server, or correct the address") as refused:
        open_database("postgresql://me:s3cret@localhost:1/things?connect_timeout=2")

    assert str(refused.value).startswith("cannot use the store postgresql://localhost:1/things: ")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://",
        "postgresql://a b:c:d@x:y/z",
        "mysql://x/y",
        "postgresql://me:s3cret@x:99999/y",
        "postgresql://me:s3cret@x/y?sslmod=require",
        "postgresql://me:s3%zzcret@x/y",
    ],
)
def test_what_is_no_address_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ConfigError, match="`store` is no address of a PostgreSQL database") as no:
        open_database(address)

    assert address.partition("//")[2] not in str(no.value) or address == "postgresql://"


def test_a_place_is_shown_without_who_logs_in(engine: Engine) -> None:
    assert place_of(engine).startswith("postgresql:///")
    assert "postgres@" not in place_of(engine)


def test_without_psycopg_it_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from steelyard.store.database import open_database\n"
        "open_database('postgresql://x/y')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert "needs psycopg: pip install 'steelyard[postgresql]'" in done.stderr


def test_a_store_in_a_file_loads_no_driver(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib\n"
        "from steelyard.store.database import open_database\n"
        f"open_database(pathlib.Path({str(tmp_path / 'steelyard.db')!r}))\n"
        "print([name for name in sys.modules if 'psycopg' in name or 'postgresql' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert done.stdout == "[]\n"
