"""Places for records: never more than there are, first come, first served, none lost."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.engine.slots import Slots


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_whoever_finds_a_place_does_not_wait() -> None:
    slots = Slots(2)

    assert [slots.take_at_once() for _ in range(3)] == [True, True, False]
    slots.release()
    assert slots.take_at_once()


def test_those_who_wait_are_served_in_order_and_before_anybody_else() -> None:
    async def run() -> list[int]:
        slots, served = Slots(1), list[int]()

        async def take(number: int) -> None:
            await slots.take()
            served.append(number)

        await slots.take()
        waiting = [asyncio.ensure_future(take(number)) for number in range(3)]
        await settle()
        slots.release()
        assert not slots.take_at_once()
        await settle()
        assert served == [0]
        for _ in range(2):
            slots.release()
        await asyncio.gather(*waiting)
        return served

    assert asyncio.run(run()) == [0, 1, 2]


@pytest.mark.parametrize("is_handed_over", [False, True])
def test_a_place_is_not_lost_with_one_who_no_longer_waits(is_handed_over: bool) -> None:
    async def run() -> None:
        slots = Slots(1)
        await slots.take()
        gone, next_one = (asyncio.ensure_future(slots.take()) for _ in range(2))
        await settle()
        if is_handed_over:
            slots.release()
        gone.cancel()
        await settle()
        if not is_handed_over:
            slots.release()
        await asyncio.wait_for(next_one, 120)

    asyncio.run(run())


def test_all_are_taken_when_all_have_been_given_back() -> None:
    async def run() -> None:
        slots = Slots(3)
        slots.take_at_once()
        taking = asyncio.ensure_future(slots.take_all())
        await settle()
        assert not taking.done()
        slots.release()
        await asyncio.wait_for(taking, 120)
        assert not slots.take_at_once()

    asyncio.run(run())


def test_new_places_go_to_whoever_waits() -> None:
    async def run() -> None:
        slots = Slots(0)
        waiting = [asyncio.ensure_future(slots.take()) for _ in range(3)]
        await settle()
        slots.widen(2)
        await settle()
        assert [one.done() for one in waiting] == [True, True, False]
        slots.widen(2)
        await waiting[2]
        assert slots.take_at_once()
        assert not slots.take_at_once()
        for _ in range(4):
            slots.release()
        await slots.take_all()
        assert not slots.take_at_once()

    asyncio.run(run())


@given(st.integers(1, 4), st.lists(st.sampled_from(["take", "give", "leave"]), max_size=40))
def test_there_are_never_more_taken_than_there_are(count: int, steps: list[str]) -> None:
    async def run() -> None:
        slots, tasks, held = Slots(count), list[asyncio.Task[None]](), 0
        for step in steps:
            if step == "take":
                tasks.append(asyncio.ensure_future(slots.take()))
            elif step == "give" and held:
                slots.release()
                held -= 1
            elif step == "leave" and tasks:
                tasks.pop().cancel()
            await settle()
            held += sum(task.done() for task in tasks)
            tasks = [task for task in tasks if not task.done()]
            assert held <= count
            assert not tasks or held == count
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(run())
