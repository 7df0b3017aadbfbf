"""The bounds of the record loop: calls at once, calls uncommitted, and how it stops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.ledger import MemoryLedger
from fakes.targets import Said, ScriptedTarget, fails
from fakes.work import Bench, work
from steelyard.engine.budget import CANCEL
from steelyard.engine.record_work import Work
from steelyard.errors import RunError
from steelyard.model.run import Result


def records(count: int) -> Iterator[Work | Result]:
    return (work(index) for index in range(count))


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_calls_at_once_never_exceed_the_bound_and_reach_it(concurrency: int) -> None:
    bench = Bench()
    asyncio.run(bench.run(records(40), concurrency))

    assert bench.target.most_at_once == concurrency


@pytest.mark.parametrize("concurrency", [1, 4])
def test_results_that_are_not_committed_never_exceed_twice_the_bound(concurrency: int) -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop(records(50)).run(concurrency))
        while not running.done():
            await bench.clock.settle()
            assert len(bench.target.calls) <= len(bench.ledger.results) + 2 * concurrency
            bench.ledger.commit()
        await running

    asyncio.run(run())

    assert bench.ledger.most_uncommitted == 2 * concurrency
    assert len(bench.ledger.results) == 50


def test_records_that_are_never_asked_are_committed_many_at_a_time() -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))
    loop, commits = bench.loop(records(1000)), 0

    async def run() -> None:
        nonlocal commits
        running = asyncio.ensure_future(loop.run(2))
        await bench.clock.settle()
        loop.stop(CANCEL)
        while not running.done():
            await bench.clock.settle()
            commits += 1
            bench.ledger.commit()
        await running

    asyncio.run(run())

    assert len(bench.target.calls) <= 4
    assert len(bench.ledger.results) == 1000
    assert 256 < bench.ledger.most_uncommitted < 1000
    assert commits < 10


def test_a_worker_without_a_place_has_what_there_is_committed() -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))

    async def run() -> list[int]:
        running = asyncio.ensure_future(bench.loop(records(4)).run(1))
        hurried: list[int] = []
        while not running.done():
            await bench.clock.settle()
            hurried.append(bench.ledger.hurried)
            bench.ledger.commit()
        await running
        return hurried

    # There are two places: the third record waits for one of them, and the run for the last two.
    assert asyncio.run(run()) == [1, 2, 2]


def test_a_result_is_told_only_when_it_is_committed() -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop(records(1)).run(1))
        await bench.clock.settle()
        assert bench.seen == []
        bench.ledger.commit()
        await running

    asyncio.run(run())

    assert [result.index for result in bench.seen] == [0]


def test_the_loop_does_not_end_before_the_last_result_is_committed() -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop(records(3)).run(4))
        await bench.clock.settle()
        assert not running.done()
        bench.ledger.commit()
        await running

    asyncio.run(run())

    assert len(bench.ledger.results) == 3


@pytest.mark.parametrize(
    "script",
    [{}, {f"r{index}": [fails("timeout"), "yes"] for index in range(100)}],
    ids=["results", "attempts"],
)
def test_a_ledger_that_fails_ends_the_run_and_no_further_call_is_made(
    script: dict[str, list[Said]],
) -> None:
    bench = Bench(ScriptedTarget(script))
    bench.ledger.error = RunError("the disk is full")

    async def run() -> int:
        with pytest.raises(RunError, match="the disk is full"):
            await bench.loop(records(100)).run(4)
        made = len(bench.target.calls)
        await bench.clock.settle()
        return made

    made = asyncio.run(run())

    assert len(bench.target.calls) == made <= 2 * 4
    assert bench.seen == []


def test_a_ledger_that_fails_on_the_last_result_ends_the_run_too() -> None:
    bench = Bench(ledger=MemoryLedger(is_held=True))

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop(records(2)).run(4))
        await bench.clock.settle()
        bench.ledger.error = RunError("the disk is full")
        bench.ledger.commit()
        await running

    with pytest.raises(RunError, match="the disk is full"):
        asyncio.run(run())


def test_a_source_that_fails_ends_the_run_and_no_worker_goes_on() -> None:
    """A worker that lives on would make calls that nobody keeps."""
    bench = Bench()
    bench.target.held = asyncio.Event()

    def source() -> Iterator[Work | Result]:
        yield from records(3)
        raise OSError("the dataset is gone")

    async def run() -> int:
        with pytest.raises(OSError, match="the dataset is gone"):
            await bench.loop(source()).run(4)
        assert bench.target.held
        bench.target.held.set()
        await bench.clock.settle()
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1
    assert bench.ledger.results == {}


def test_a_cancelled_loop_leaves_what_is_kept_and_makes_no_further_call() -> None:
    bench = Bench()

    async def run() -> None:
        bench.target.held = asyncio.Event()
        running = asyncio.ensure_future(bench.loop(records(20)).run(4))
        await bench.clock.settle()
        bench.target.held.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        bench.target.held.clear()
        await bench.clock.settle()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        made = len(bench.target.calls)
        bench.target.held.set()
        await bench.clock.settle()

        assert len(bench.target.calls) == made
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())

    assert 0 < len(bench.ledger.results) < 20
    assert len(bench.seen) == len(bench.ledger.results)


def test_a_loop_can_be_cancelled_while_a_record_waits_for_its_retry() -> None:
    bench = Bench(ScriptedTarget({"r0": [fails("timeout"), "yes"]}))

    async def run() -> None:
        running = asyncio.ensure_future(bench.loop(records(1)).run(2))
        await bench.clock.settle()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(run())

    assert len(bench.ledger.attempts) == 1
    assert bench.ledger.results == {}


OUTCOMES: st.SearchStrategy[list[Said]] = st.lists(
    st.sampled_from(["yes", "no", fails("timeout"), fails("rate_limited"), fails("bad_request")]),
    min_size=1,
    max_size=4,
)


@given(script=st.lists(OUTCOMES, max_size=10), concurrency=st.integers(1, 4))
def test_whatever_happens_every_record_has_one_result_and_every_call_its_attempt(
    script: list[list[Said]], concurrency: int
) -> None:
    bench = Bench(ScriptedTarget({f"r{index}": said for index, said in enumerate(script)}))
    asyncio.run(bench.run(records(len(script)), concurrency))

    assert sorted(bench.ledger.results) == [(index, 0) for index in range(len(script))]
    assert len(bench.ledger.attempts) == len(bench.target.calls)
    for (index, _), result in bench.ledger.results.items():
        made = [attempt for place, attempt in bench.ledger.attempts.items() if place[0] == index]
        assert [attempt.attempt for attempt in made] == list(range(1, result.attempts + 1))
        assert (made[-1].error_code is None) == (result.status == "evaluated")
