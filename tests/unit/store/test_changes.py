"""Whether anything was committed to a store."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert

from steelyard.store.changes import StoreChanges
from steelyard.store.database import open_database
from steelyard.store.tables import redactions

ROW = {"run_id": "run_1", "kind": "email", "found": 1}


def test_a_commit_of_another_connection_is_counted(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "steelyard.db")
    changes = StoreChanges(engine)
    before = changes.count()
    with engine.begin() as connection:
        connection.execute(insert(redactions), ROW)

    assert changes.count() != before
    assert changes.count() == changes.count()
    changes.close()
    engine.dispose()


def test_reading_and_rolling_back_change_nothing(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "steelyard.db")
    changes = StoreChanges(engine)
    before = changes.count()
    with engine.connect() as connection:
        connection.execute(insert(redactions), ROW)
        connection.rollback()

    assert changes.count() == before
    changes.close()
    engine.dispose()
