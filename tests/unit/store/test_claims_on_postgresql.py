"""Claims in PostgreSQL: nobody gets what somebody else has, and nobody waits for others."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.review_queues import QUEUE, StoredQueue, assignments
from fakes.runs import stored_run
from fakes.stores import open_store, stores_on_server
from steelyard.errors import RunError
from steelyard.store.review.assignments import AssignmentStore
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.run_queue import RunQueue
from steelyard.store.tables import runs

pytestmark = pytest.mark.trials
AT = "2026-11-18T08:00:00.000+00:00"


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where a store is on the server."""
    environ: dict[str, str] = {}
    with stores_on_server(environ):
        yield tmp_path / "steelyard.db"


def queued(store: RunStore, *names: str) -> None:
    for name in names:
        run = replace(stored_run(name), status="queued", fence=0, owner=None, is_queued=True)
        store.create(run)


def test_a_run_that_another_worker_is_taking_is_not_waited_for(path: Path) -> None:
    store = RunStore(open_store(path))
    queued(store, "1")
    (run,) = RunQueue(store.engine).waiting()

    with store.engine.connect() as other:
        other.execute(runs.select().where(runs.c.run_id == run.run_id).with_for_update())
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(store.claim, run, "me", AT).result(timeout=10) is False
    assert store.claim(run, "me", AT)
    store.close()


def test_workers_take_every_run_once(path: Path) -> None:
    store = RunStore(open_store(path))
    queued(store, *map(str, range(12)))
    taken: list[str] = []

    def work(number: int) -> None:
        mine = RunStore(open_store(path))
        queue = RunQueue(mine.engine)
        while free := [run for run in queue.waiting() if run.owner is None]:
            if mine.claim(free[0], f"worker {number}", AT):
                taken.append(free[0].run_id)
        mine.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(taken) == sorted(store.ids())
    store.close()


def test_a_worker_that_was_overtaken_writes_nothing_more(path: Path) -> None:
    """The fence holds whatever host the worker is on, by the clock of the database."""
    store, other = RunStore(open_store(path)), RunStore(open_store(path))
    queued(store, "1")
    assert store.claim(store.find("latest"), "far-away:1:", AT)
    held = store.lease("run_1")
    with store.engine.begin() as connection:
        connection.execute(runs.update().values(lease_until=1.0))
    assert other.claim(other.find("latest"), "elsewhere:2:", AT)

    refused = pytest.raises(RunError, match="was taken over by another process")
    with refused, store.engine.begin() as connection:
        held.require(connection)
    store.close()
    other.close()


def test_an_item_that_somebody_is_claiming_is_passed_over(path: Path) -> None:
    queue = StoredQueue(path, items=3)
    begun, over = threading.Event(), threading.Event()

    def slow_token() -> str:
        begun.set()
        over.wait(10)
        return "slow"

    slow = AssignmentStore(queue.engine, slow_token, 60)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow.claim, QUEUE, "ann", AT)
        assert begun.wait(10)
        second = pool.submit(assignments(queue.engine).claim, QUEUE, "bob", AT).result(timeout=10)
        over.set()
        claimed = first.result(timeout=10)

    assert claimed
    assert second
    assert (claimed.item.item_id, second.item.item_id) == (queue.items[0], queue.items[1])
    queue.close()


def test_a_person_who_claims_twice_at_once_gets_one_item(path: Path) -> None:
    queue = StoredQueue(path, items=4)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(queue.work.claim, QUEUE, "ann", AT) for _ in range(4)]
        found = [one.result() for one in asked]

    assert {one.item.item_id for one in found if one} == {queue.items[0]}
    queue.close()
