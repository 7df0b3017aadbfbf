"""Batches of worker processes on their way into the store."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.runs import evaluated, stored_run, unevaluated
from fakes.stores import open_store
from fakes.workers import batch_of
from steelyard.errors import RunError
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_register import RowRegister, Sent
from steelyard.store.runs.row_writer import Rows, RowWriter

pytestmark = pytest.mark.usefixtures("both_stores")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A project with one run."""
    made = RunStore(open_store(tmp_path / "steelyard.db"))
    made.create(stored_run(status="running"))
    yield made
    made.close()


def keep(store: RunStore, *batches: bytes) -> list[Sent]:
    async def run() -> list[Sent]:
        register = RowRegister(RowWriter(store.engine, store.lease("run_1")))
        try:
            return [await register.keep(batch) for batch in batches]
        finally:
            await register.close()

    return asyncio.run(run())


def test_a_batch_is_kept_and_told(store: RunStore) -> None:
    batch = batch_of(evaluated(3), unevaluated(5, "timeout"))
    sent = keep(store, batch)[0]

    assert sent.outcomes == (("evaluated", True), ("timeout", None))
    assert sent.places == ((3, 0), (5, 0))
    assert list(store.done("run_1")) == [(3, 0), (5, 0)]
    assert len(list(store.attempt_rows("run_1"))) == 2


def test_a_workers_state_is_told_and_not_the_runs(store: RunStore) -> None:
    sent = keep(store, batch_of(evaluated(0)))[0]

    assert sent.states == ("retrying",)
    assert store.find("run_1").status == "running"


def test_a_batch_is_refused_as_a_whole(store: RunStore) -> None:
    first, both = batch_of(evaluated(0)), batch_of(evaluated(1), evaluated(0))

    with pytest.raises(RunError, match=r"refuses results: .*(?i:unique)"):
        keep(store, first, both)
    assert list(store.done("run_1")) == [(0, 0)]


def test_a_run_that_was_taken_over_gets_nothing_more(store: RunStore) -> None:
    other = RunStore(store.engine)
    assert other.claim(other.find("run_1"), "second", "now")

    with pytest.raises(RunError, match="run_1 was taken over by another process"):
        keep(store, batch_of(evaluated(0)))
    assert list(store.done("run_1")) == []
    other.release("run_1", "now")


class SlowWriter(RowWriter):
    """Writes its first rows only when it may, and counts."""

    writes = 0

    def __init__(self, store: RunStore) -> None:
        super().__init__(store.engine, store.lease("run_1"))
        self.may_go_on = threading.Event()

    def write(self, rows: Rows) -> None:
        """As soon as it may."""
        self.writes += 1
        assert self.may_go_on.wait(60)
        super().write(rows)


def keep_at_once(writer: SlowWriter, *batches: bytes) -> list[Sent | BaseException]:
    """What comes of a batch, and of others that come in while it is being written."""

    async def run() -> list[Sent | BaseException]:
        register = RowRegister(writer)
        kept = [asyncio.ensure_future(register.keep(batch)) for batch in batches[:1]]
        while not writer.writes:
            await asyncio.sleep(0.001)
        kept += [asyncio.ensure_future(register.keep(batch)) for batch in batches[1:]]
        await asyncio.sleep(0)
        writer.may_go_on.set()
        try:
            return await asyncio.gather(*kept, return_exceptions=True)
        finally:
            await register.close()

    return asyncio.run(run())


def test_what_comes_in_during_a_commit_is_one_commit(store: RunStore) -> None:
    writer = SlowWriter(store)
    sent = keep_at_once(writer, *(batch_of(evaluated(index)) for index in range(4)))

    assert [one.places for one in sent if isinstance(one, Sent)] == [((n, 0),) for n in range(4)]
    assert list(store.done("run_1")) == [(n, 0) for n in range(4)]
    assert writer.writes == 2


def test_a_batch_that_is_refused_takes_none_with_it(store: RunStore) -> None:
    batches = (evaluated(0),), (evaluated(1),), (evaluated(2), evaluated(0)), (evaluated(3),)
    sent = keep_at_once(SlowWriter(store), *(batch_of(*one) for one in batches))

    assert [isinstance(one, RunError) for one in sent] == [False, False, True, False]
    assert list(store.done("run_1")) == [(0, 0), (1, 0), (3, 0)]
