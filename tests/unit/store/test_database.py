"""The database of a project: safe settings, one schema version, clear refusals."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from steelyard.errors import RunError
from steelyard.store.database import open_database
from steelyard.store.tables import SCHEMA_VERSION


def pragma(path: Path, name: str) -> object:
    engine = open_database(path)
    with engine.connect() as connection:
        value = connection.execute(text(f"PRAGMA {name}")).scalar()
    engine.dispose()
    return value


def raw(path: Path, *statements: str) -> list[tuple[object, ...]]:
    """What a database answers to the last of some statements."""
    connection = sqlite3.connect(path)
    found: list[tuple[object, ...]] = []
    for statement in statements:
        found = connection.execute(statement).fetchall()
    connection.commit()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),
        ("busy_timeout", 30_000),
        ("page_size", 8192),
        ("temp_store", 2),
    ],
)
def test_every_connection_is_safe_and_patient(tmp_path: Path, name: str, value: object) -> None:
    assert pragma(tmp_path / "steelyard.db", name) == value


def test_folders_are_made_and_odd_names_are_no_addresses(tmp_path: Path) -> None:
    path = tmp_path / "a?b=c#d" / "100 % ünïcode" / "steelyard.db"
    open_database(path).dispose()

    assert path.is_file()
    assert raw(path, "SELECT version FROM schema_version") == [(SCHEMA_VERSION,)]


def test_a_store_is_opened_again_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    open_database(path).dispose()
    before = path.stat().st_mtime_ns
    open_database(path).dispose()

    assert path.stat().st_mtime_ns == before


def test_another_schema_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    raw(
        path,
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY)",
        "INSERT INTO schema_version VALUES (99)",
    )

    with pytest.raises(
        RunError, match=rf"version 99; this Steelyard reads {SCHEMA_VERSION}\. Use"
    ):
        open_database(path)
    assert raw(path, "SELECT name FROM sqlite_master") == [("schema_version",)]


def test_a_stop_while_the_tables_were_made_is_made_good(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    open_database(path).dispose()
    raw(path, "DELETE FROM schema_version", "DROP TABLE attempts")
    open_database(path).dispose()

    assert raw(path, "SELECT version FROM schema_version") == [(SCHEMA_VERSION,)]
    assert raw(path, "SELECT count(*) FROM attempts") == [(0,)]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"this is no database at all, but a text", "not a database"),
        (b"\xff" * 8192, "not a data"),
    ],
)
def test_a_file_that_is_no_database_is_refused_clearly(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "steelyard.db"
    path.write_bytes(content)

    with pytest.raises(RunError, match=rf"cannot use the store .*steelyard\.db: .*{said}"):
        open_database(path)


def test_a_damaged_database_is_refused_clearly(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    open_database(path).dispose()
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\x99" * 3996
    path.write_bytes(data)

    with pytest.raises(RunError, match=r"cannot use the store .*malformed"):
        open_database(path)


def test_a_folder_in_its_place_is_refused_clearly(tmp_path: Path) -> None:
    (tmp_path / "steelyard.db").mkdir()

    with pytest.raises(RunError, match=r"cannot use the store .*unable to open"):
        open_database(tmp_path / "steelyard.db")


def test_a_store_that_another_process_is_making_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE something (x)")
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.05, other.execute, ("COMMIT",))
    timer.start()
    open_database(path).dispose()
    timer.join()
    other.close()

    assert raw(path, "PRAGMA journal_mode") == [("wal",)]


def test_a_lock_that_is_never_given_back_is_told_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "steelyard.db"
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE something (x)")
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(RunError, match=r"cannot use the store .*: database is locked"):
        open_database(path, patience_s=0.05)
    other.close()


def test_many_may_make_the_store_at_once(tmp_path: Path) -> None:
    start = threading.Barrier(4)

    def opened(number: int) -> bool:
        start.wait()
        open_database(tmp_path / f"{number // 4}" / "steelyard.db").dispose()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(opened, range(80)))
