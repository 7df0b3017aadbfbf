"""Whether anything was committed to a store, or to one of its runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert

from fakes.runs import attempt, evaluated, stored_run
from fakes.stores import open_store
from steelyard.engine.redaction.redactor import Redactor
from steelyard.model.audit import AuditEntry, Caller
from steelyard.store.audit_log import add_entry
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
from steelyard.store.tables import redactions

pytestmark = pytest.mark.usefixtures("both_stores")

ROW = {"run_id": "run_1", "kind": "email", "found": 1}
PRUNED = AuditEntry(
    at="now", caller=Caller("somebody", "1"), verb="prune", subject="run_1", detail={}
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """Two runs, `run_1` and `run_2`."""
    made = RunStore(open_store(tmp_path / "steelyard.db"))
    made.create(stored_run("1"))
    made.create(stored_run("2"))
    yield made
    made.close()


def log(store: RunStore, entry: AuditEntry) -> None:
    """Add an entry to the audit log."""
    with store.engine.begin() as connection:
        add_entry(connection, entry)


def versions(store: RunStore, *names: str) -> list[object]:
    """The versions of some runs, and that of the store."""
    return [*map(store.changes.of_run, names), store.changes.commits()]


def test_a_commit_is_another_version_of_the_store(store: RunStore) -> None:
    before = store.changes.commits()
    with store.engine.begin() as connection:
        connection.execute(insert(redactions), ROW)

    assert store.changes.commits() != before
    assert store.changes.commits() == store.changes.commits()


@pytest.mark.sqlite
def test_reading_and_rolling_back_change_nothing(store: RunStore) -> None:
    before = store.changes.commits()
    with store.engine.connect() as connection:
        connection.execute(insert(redactions), ROW)
        connection.rollback()

    assert store.changes.commits() == before


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
    before = versions(store, "run_1", "run_2")
    change(store)
    after = versions(store, "run_1", "run_2")

    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, False]


def test_rows_that_a_run_adds_are_no_change_of_it(store: RunStore) -> None:
    store.claim(store.find("run_1"), "host:1:1", "now")
    writer = RowWriter(store.engine, store.lease("run_1"))
    found: list[list[object]] = []

    async def run() -> None:
        ledger = BatchLedger(writer, Redactor(), lambda: "2026-01-15")
        for index in range(2):  # the first rows are an event of progress, too
            await ledger.keep(evaluated(index), [attempt(index)])
            found.append(versions(store, "run_1"))
        await ledger.close()

    asyncio.run(run())
    before, after = found

    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False]


@pytest.mark.parametrize("name", ["latest", "latest~0", "RUN_2", "run_"])
def test_another_name_of_a_run_has_a_version_that_changes_with_that_run(
    store: RunStore, name: str
) -> None:
    found = [store.changes.of_run(name)]
    for change in (
        lambda: store.request_cancel("run_2"),
        lambda: log(store, PRUNED) if name != "run_" else None,
    ):
        change()
        found.append(store.changes.of_run(name))

    assert found[0] != found[1] == found[2]


def test_another_run_under_the_same_name_is_another_version(store: RunStore) -> None:
    before = [store.changes.of_run(name) for name in ("latest", "latest~1", "run_3", "\udcff")]
    store.create(stored_run("3"))
    after = [store.changes.of_run(name) for name in ("latest", "latest~1", "run_3", "\udcff")]

    assert [old == new for old, new in zip(before, after, strict=True)] == [False] * 3 + [True]


CHANGES_OF_RUNS: dict[str, Callable[[RunStore], object]] = {
    "made": lambda store: store.create(stored_run("3")),
    "moved": CHANGES["moved"],
    "pruned": CHANGES["pruned"],
    "cancelled": lambda store: store.request_cancel("run_1", replace(PRUNED, verb="cancel_run")),
}


@pytest.mark.parametrize("change", CHANGES_OF_RUNS.values(), ids=CHANGES_OF_RUNS)
def test_a_list_of_runs_has_another_version_after_a_change_of_any(
    store: RunStore, change: Callable[[RunStore], object]
) -> None:
    store.claim(store.find("run_1"), "host:1:1", "now")
    before = store.changes.of_runs()
    with store.engine.begin() as connection:
        connection.execute(insert(redactions), ROW)
    unchanged = store.changes.of_runs()
    change(store)

    assert before == unchanged != store.changes.of_runs()
