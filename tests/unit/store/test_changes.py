"""Whether anything was committed to a store, or to one of its runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert

from fakes.runs import attempt, evaluated, stored_run
from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.audit import AuditEntry, Caller
from steelyard.store.audit_log import add_entry
from steelyard.store.database import open_database
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
from steelyard.store.tables import redactions

ROW = {"run_id": "run_1", "kind": "email", "found": 1}
PRUNED = AuditEntry(
    at="now", caller=Caller("somebody", "1"), verb="prune", subject="run_1", detail={}
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Two runs, `run_1` and `run_2`."""
    made = RunStore(open_database(tmp_path / "steelyard.db"))
    made.create(stored_run("1"))
    made.create(stored_run("2"))
    yield made
    made.close()


def log(store: RunStore, entry: AuditEntry) -> None:
    """Add an entry to the audit log."""
    with store.engine.begin() as connection:
        add_entry(connection, entry)


def test_a_commit_is_another_version_of_the_store(store: RunStore) -> None:
    before = store.changes.version()
    with store.engine.begin() as connection:
        connection.execute(insert(redactions), ROW)

    assert store.changes.version() != before
    assert store.changes.version() == store.changes.version()


def test_reading_and_rolling_back_change_nothing(store: RunStore) -> None:
    before = store.changes.version()
    with store.engine.connect() as connection:
        connection.execute(insert(redactions), ROW)
        connection.rollback()

    assert store.changes.version() == before


CHANGES: dict[str, Callable[[RunStore], object]] = {
    "moved": lambda store: store.move("run_1", "validating", "now"),
    "cancelled": lambda store: store.request_cancel("run_1"),
    "claimed": lambda store: store.claim(store.find("run_1"), "host:1:2", "now"),
    "released": lambda store: store.release("run_1", "now"),
    "pruned": lambda store: log(store, PRUNED),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_a_run_is_another_version_of_it_alone(
    store: RunStore, change: Callable[[RunStore], object]
) -> None:
    store.claim(store.find("run_1"), "host:1:1", "now")
    before = [store.changes.version(name) for name in ("run_1", "run_2", None)]
    change(store)
    after = [store.changes.version(name) for name in ("run_1", "run_2", None)]

    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, False]


def test_rows_that_a_run_adds_are_no_change_of_it(store: RunStore) -> None:
    store.claim(store.find("run_1"), "host:1:1", "now")
    writer = RowWriter(store.engine, store.lease("run_1"))
    found: list[list[object]] = []

    async def run() -> None:
        ledger = BatchLedger(writer, Redactor(), lambda: "2026-01-15")
        for index in range(2):  # the first rows are an event of progress, too
            await ledger.keep(evaluated(index), [attempt(index)])
            found.append([store.changes.version(name) for name in ("run_1", None)])
        await ledger.close()

    asyncio.run(run())
    before, after = found

    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]


@pytest.mark.parametrize("name", ["run_", "latest", "run_3", "\udcff"])
def test_what_is_no_id_of_a_run_has_the_version_of_the_store(store: RunStore, name: str) -> None:
    before = store.changes.version(name)
    store.request_cancel("run_2")

    assert before != store.changes.version(name) == store.changes.version()
