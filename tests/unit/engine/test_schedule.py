"""What is done next: new work in order, retries when they are due."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from steelyard.engine.schedule import AHEAD, Schedule


def during(
    items: Iterable[str], use: Callable[[Schedule[str], ManualClock], Awaitable[None]]
) -> None:
    """Use a schedule of items while time passes as needed."""

    async def run() -> None:
        clock = ManualClock()
        schedule = Schedule(iter(items), clock)

        async def used() -> None:
            await use(schedule, clock)

        await clock.carry(used())

    asyncio.run(run())


def test_new_work_comes_in_order_and_then_the_end() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        taken: list[str | None] = []
        for _ in range(4):
            taken.append(await schedule.take())
            if taken[-1]:
                schedule.done()

        assert taken == ["a", "b", "c", None]

    during("abc", use)


def test_the_end_is_told_to_everybody_and_stays_the_end() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        assert await schedule.take() == "a"
        idle = [asyncio.ensure_future(schedule.take()) for _ in range(3)]
        await clock.settle()
        assert not any(task.done() for task in idle)
        schedule.done()

        assert await asyncio.gather(*idle) == [None, None, None]
        assert await schedule.take() is None

    during("a", use)


def test_there_is_no_end_while_an_item_may_come_back() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        assert await schedule.take() == "a"
        idle = asyncio.ensure_future(schedule.take())
        await clock.settle()
        schedule.again("a", 5)

        assert await idle == "a"
        assert clock.elapsed == 5

    during("a", use)


def test_a_retry_waits_until_it_is_due_and_holds_nobody_up() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        schedule.again(await schedule.take() or "", 2)
        seen = [(await schedule.take(), clock.elapsed) for _ in range(3)]

        assert seen == [("b", 0), ("c", 0), ("a", 2)]

    during("abc", use)


def test_a_retry_that_is_due_goes_before_new_work() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        schedule.again(await schedule.take() or "", 2)
        clock.move(2)

        assert await schedule.take() == "a"
        assert await schedule.take() == "b"

    during("ab", use)


def test_retries_come_by_their_time_and_of_one_time_in_order() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        for delay in (6, 2, 2):
            schedule.again(await schedule.take() or "", delay)

        assert [await schedule.take() for _ in range(3)] == ["b", "c", "a"]
        assert clock.elapsed == 6

    during("abc", use)


def test_an_idle_worker_hears_of_every_retry() -> None:
    """A change must reach a worker that is just about to wait, though another waits after it."""

    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        first, second = await schedule.take(), await schedule.take()
        idle = asyncio.ensure_future(schedule.take())
        await asyncio.sleep(0)
        schedule.again(first or "", 1)
        schedule.again(second or "", 2)

        assert await schedule.take() == "a"
        assert await idle == "b"
        assert clock.elapsed == 2

    during("ab", use)


@pytest.mark.parametrize(
    ("is_drained", "is_waiting", "is_only_retrying"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, True)],
)
def test_a_run_is_only_retrying_when_no_first_attempt_is_left_and_something_waits(
    is_drained: bool, is_waiting: bool, is_only_retrying: bool
) -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        await schedule.take()
        if is_drained:
            idle = asyncio.ensure_future(schedule.take())
            await clock.settle()
            idle.cancel()
        if is_waiting:
            schedule.again("a", 5)

        assert schedule.is_only_retrying is is_only_retrying

    during("a", use)


def test_a_worker_that_is_cancelled_while_it_waits_takes_nothing_with_it() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        schedule.again(await schedule.take() or "", 5)
        gone = asyncio.ensure_future(schedule.take())
        await clock.settle()
        gone.cancel()

        assert await schedule.take() == "a"

    during("a", use)


DELAYS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 6.0]), max_size=3)


@given(plans=st.lists(DELAYS, max_size=12), workers=st.integers(1, 5))
def test_every_item_is_handed_out_once_a_try_and_the_end_comes_once(
    plans: list[list[float]], workers: int
) -> None:
    """Whatever comes back, and however often, nothing is lost, doubled or early."""
    left = {str(number): list(plan) for number, plan in enumerate(plans)}
    due = dict.fromkeys(left, 0.0)
    taken: list[str] = []
    out: set[str] = set()
    ends: list[int] = []

    async def work(schedule: Schedule[str], clock: ManualClock) -> None:
        while (item := await schedule.take()) is not None:
            assert item not in out
            assert clock.elapsed >= due[item]
            out.add(item)
            taken.append(item)
            await asyncio.sleep(0)
            out.remove(item)
            if left[item]:
                due[item] = clock.elapsed + left[item][0]
                schedule.again(item, left[item].pop(0))
            else:
                schedule.done()
        ends.append(len(taken))

    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        await asyncio.gather(*(work(schedule, clock) for _ in range(workers)))

    during(list(left), use)

    tries = {str(number): len(plan) + 1 for number, plan in enumerate(plans)}
    assert {item: taken.count(item) for item in tries} == tries
    assert ends == [len(taken)] * workers


@pytest.mark.parametrize("count", [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD])
def test_items_are_made_some_at_a_time_and_all_are_handed_out(count: int) -> None:
    made: list[str] = []

    def items() -> Iterator[str]:
        for number in range(count):
            made.append(str(number))
            yield made[-1]

    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        taken: list[str] = []
        while item := schedule.take_at_once() or await schedule.take():
            taken.append(item)
            schedule.done()
            assert len(made) - len(taken) < AHEAD
        assert taken == made
        assert schedule.is_drained
        assert len(made) == count

    during(items(), use)


def test_what_is_not_due_is_not_taken_at_once() -> None:
    async def use(schedule: Schedule[str], clock: ManualClock) -> None:
        assert schedule.take_at_once() == "a"
        schedule.again("a", 5.0)
        assert schedule.take_at_once() is None
        assert await schedule.take() == "a"
        assert clock.elapsed == 5.0
        schedule.done()

    during(["a"], use)
