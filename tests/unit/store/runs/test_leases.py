"""The right to write to a run: renewed while its process lives, lost to whoever takes it over."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from fakes.runs import evaluated, stored_run
from fakes.stores import open_store
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import RunError
from steelyard.store.runs import leases
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
from steelyard.store.tables import runs

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "steelyard.db"


@pytest.fixture
def store(path: Path) -> Iterator[RunStore]:
    """One process's store, with a run that it has just made."""
    made = RunStore(open_store(path))
    made.create(stored_run(status="running", owner="first"))
    yield made
    made.close()


@pytest.fixture
def other(path: Path) -> Iterator[RunStore]:
    """Another process's store."""
    made = RunStore(open_store(path))
    yield made
    made.close()


def keep(store: RunStore, index: int) -> None:
    async def run() -> None:
        ledger = BatchLedger(
            RowWriter(store.engine, store.lease("run_1")), Redactor(), lambda: "now"
        )
        try:
            await ledger.keep(evaluated(index), ())
        finally:
            await ledger.close()

    asyncio.run(run())


def test_a_process_that_lost_its_run_writes_nothing_more(store: RunStore, other: RunStore) -> None:
    keep(store, 0)
    assert other.claim(other.find("run_1"), "second", "now")

    for write in (
        lambda: keep(store, 1),
        lambda: store.move("run_1", "finalizing", "later"),
        lambda: store.finish("run_1", "failed", "later", {}),
        lambda: store.release("run_1", "now"),
    ):
        with pytest.raises(RunError, match="run_1 was taken over by another process"):
            write()
    keep(other, 1)

    assert [found[0] for found in other.done("run_1")] == [0, 1]
    assert (other.find("run_1").owner, other.find("run_1").status) == ("second", "running")


def test_what_is_not_held_is_not_written(other: RunStore, store: RunStore) -> None:
    with pytest.raises(RunError, match="run_1 is not held by this process"):
        other.move("run_1", "finalizing", "later")
    store.release("run_1", "now")
    with pytest.raises(RunError, match="not held"):
        store.move("run_1", "finalizing", "later")


def test_each_claim_raises_the_fence_and_ends_with_its_release(store: RunStore) -> None:
    store.release("run_1", "now")
    for fence in (2, 3):
        assert store.claim(store.find("run_1"), "me", "now")
        assert store.find("run_1").fence == fence
        store.release("run_1", "now")

    assert store.find("run_1").lease_left_s is None


def test_a_lease_is_renewed_while_nothing_is_written(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(leases, "_LOOK_S", 0.01)
    store.release("run_1", "now")
    assert store.claim(store.find("run_1"), "me", "now")
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
    deadline = time.monotonic() + 120
    while (store.find("run_1").lease_left_s or 0) < 0 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert store.find("run_1").lease_left_s == pytest.approx(leases.LEASE_S, abs=5)


def test_a_lease_that_is_lost_is_not_renewed(
    store: RunStore, other: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(leases, "_LOOK_S", 0.01)
    store.release("run_1", "now")
    assert store.claim(store.find("run_1"), "me", "now")
    assert other.claim(other.find("run_1"), "second", "now")
    with other.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0, fence=99))
    time.sleep(0.2)

    assert (store.find("run_1").lease_left_s or 0) < 0


def test_whoever_works_on_a_run_is_told_that_it_shall_be_cancelled(
    store: RunStore, other: RunStore
) -> None:
    told = threading.Event()
    store.lease("run_1").on_cancel(told.set)
    other.request_cancel("run_1")

    assert told.wait(120)
    assert other.find("run_1").is_cancelling
    again = threading.Event()
    store.lease("run_1").on_cancel(again.set)
    assert again.is_set()


def lease_threads() -> int:
    return sum(thread.name == "steelyard-lease" for thread in threading.enumerate())


def test_a_run_that_is_claimed_anew_by_its_holder_is_held_once(store: RunStore) -> None:
    before = lease_threads()
    assert store.claim(store.find("run_1"), "me", "now")
    assert store.claim(store.find("run_1"), "me again", "now")

    assert lease_threads() == before
    store.move("run_1", "finalizing", "later")


def test_a_store_that_fails_for_a_moment_is_asked_again(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_S", 0.02)
    monkeypatch.setattr(leases, "_LOOK_S", 0.01)
    assert store.claim(store.find("run_1"), "me", "now")
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
        connection.exec_driver_sql("ALTER TABLE runs RENAME TO elsewhere")
    time.sleep(0.1)
    with store.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO runs")
    deadline = time.monotonic() + 120
    while (store.find("run_1").lease_left_s or 0) < 0 and time.monotonic() < deadline:
        time.sleep(0.01)

    assert (store.find("run_1").lease_left_s or 0) > 0


def test_a_hold_may_be_given_up_by_whoever_hears_of_the_cancel(
    store: RunStore, other: RunStore
) -> None:
    lease = store.lease("run_1")
    ended = threading.Event()

    def end() -> None:
        lease.end()
        ended.set()

    lease.on_cancel(end)
    other.request_cancel("run_1")

    assert ended.wait(120)


def test_a_write_renews_the_lease(store: RunStore) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
    assert (store.find("run_1").lease_left_s or 0) < 0
    keep(store, 0)

    assert store.find("run_1").lease_left_s == pytest.approx(leases.LEASE_S, abs=5)


def test_one_who_rested_longer_than_his_lease_goes_on_unless_somebody_took_it(
    store: RunStore,
) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
    store.move("run_1", "finalizing", "later")

    assert store.find("run_1").status == "finalizing"


def test_one_who_woke_up_in_time_keeps_his_run(store: RunStore, other: RunStore) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
    read = other.find("run_1")
    keep(store, 0)

    assert not other.claim(read, "second", "now")
    with store.engine.begin() as connection:
        connection.execute(update(runs).values(lease_until=0.0))
    assert other.claim(read, "second", "now")


def test_everything_is_let_go_of_when_the_store_is_closed(store: RunStore) -> None:
    before = lease_threads()
    store.create(stored_run("2"))
    store.create(stored_run("3"))
    assert lease_threads() == before + 2
    store.close()

    assert lease_threads() == before - 1
