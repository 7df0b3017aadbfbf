"""The ledger port: the one over a database, and the one in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from sqlalchemy import select

from fakes.ledger import MemoryLedger
from fakes.stores import open_store
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import RunError
from steelyard.execution.ports import OpenLedger
from steelyard.model.run import Result
from steelyard.results.attempts import Attempt
from steelyard.results.stored_run import StoredRun
from steelyard.store.runs.ledger import BatchLedger
from steelyard.store.runs.repository import RunStore
from steelyard.store.runs.row_writer import RowWriter
from steelyard.store.tables import attempts

pytestmark = pytest.mark.usefixtures("both_stores")


class Given(NamedTuple):
    """How to open a ledger, and how to see what it has committed."""

    open: Callable[[], OpenLedger]
    results: Callable[[], set[tuple[int, int]]]
    attempts: Callable[[], set[tuple[int, int, int]]]
    states: Callable[[], list[str]]


def stored(path: Path) -> Iterator[Given]:
    store = RunStore(open_store(path / "steelyard.db"))
    store.create(StoredRun(run_id="run_1", status="queued", created_at="0", dataset="", plan=None))
    for state in ("validating", "running"):
        store.move("run_1", state, "0")

    def tried() -> set[tuple[int, int, int]]:
        with store.engine.connect() as connection:
            rows = connection.execute(select(attempts)).all()
        return {(row.idx, row.repeat, row.attempt) for row in rows}

    yield Given(
        lambda: BatchLedger(
            RowWriter(store.engine, store.lease("run_1")), Redactor(), lambda: "1"
        ),
        lambda: set(store.done("run_1")),
        tried,
        lambda: [state for state, _ in store.state_times("run_1")][2:],
    )
    store.close()


def remembered(_: Path) -> Iterator[Given]:
    ledger = MemoryLedger()
    yield Given(
        lambda: ledger,
        lambda: set(ledger.results),
        lambda: {
            (index or 0, repeat or 0, number) for index, repeat, _, number in ledger.attempts
        },
        lambda: list(ledger.states),
    )


@pytest.fixture(params=[stored, remembered], ids=["database", "memory"])
def given(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Given]:
    """Each ledger in turn."""
    yield from request.param(tmp_path)


def result(index: int, repeat: int = 0) -> Result:
    return Result(index=index, record_id=f"r{index}", status="evaluated", repeat=repeat)


def attempt(index: int, number: int = 1) -> Attempt:
    return Attempt(
        index=index, record_id=None, target="t", repeat=0, attempt=number, at="2026-01-15"
    )


def during(given: Given, use: Callable[[OpenLedger], Awaitable[None]]) -> None:
    """Use a ledger and close it, whatever happens."""

    async def run() -> None:
        ledger = given.open()
        try:
            await use(ledger)
        finally:
            await ledger.close()

    asyncio.run(run())


class TestLedger:
    def test_what_is_awaited_is_committed(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            await ledger.keep(result(0), (attempt(0),))

            assert given.results() == {(0, 0)}
            assert given.attempts() == {(0, 0, 1)}

        during(given, use)

    def test_an_attempt_may_come_before_its_result(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            await ledger.keep(None, (attempt(0),))
            await ledger.keep(result(0), (attempt(0, 2),))

        during(given, use)

        assert given.attempts() == {(0, 0, 1), (0, 0, 2)}

    def test_what_nobody_awaits_is_committed_on_close(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            for index in range(100):
                ledger.keep(result(index), (attempt(index),))

        during(given, use)

        assert given.results() == {(index, 0) for index in range(100)}

    def test_somebody_who_cannot_go_on_has_it_committed_soon(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            kept = ledger.keep(result(0), ())
            ledger.hurry()
            await kept

            assert given.results() == {(0, 0)}
            ledger.hurry()

        during(given, use)

    def test_every_repeat_has_its_own_place(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            await ledger.keep(result(0, 0), ())
            await ledger.keep(result(0, 1), ())

        during(given, use)

        assert given.results() == {(0, 0), (0, 1)}

    @pytest.mark.parametrize("is_result", [True, False], ids=["result", "attempt"])
    def test_a_place_is_filled_once(self, given: Given, is_result: bool) -> None:
        async def use(ledger: OpenLedger) -> None:
            entry = (result(0), ()) if is_result else (None, (attempt(0),))
            await ledger.keep(*entry)
            with pytest.raises(RunError, match=r"refuses results: .*(?i:unique)"):
                await ledger.keep(*entry)

        during(given, use)

    def test_states_are_kept_in_order(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            await asyncio.gather(ledger.move("retrying"), ledger.move("running"))

        during(given, use)

        assert given.states() == ["running", "retrying", "running"]

    def test_a_move_outside_the_diagram_is_refused(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            with pytest.raises(RunError, match="cannot go from running to completed"):
                await ledger.move("completed")

        during(given, use)

        assert given.states() == ["running"]

    def test_a_future_that_was_cancelled_is_left_alone(self, given: Given) -> None:
        async def use(ledger: OpenLedger) -> None:
            kept = ledger.keep(result(0), ())
            kept.cancel()
            await ledger.keep(result(1), ())

        during(given, use)

        assert (1, 0) in given.results()
