"""The clock port: the machine's clocks, and the one that tests move by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from fakes.clock import ManualClock
from steelyard.ports import Clock
from steelyard.store.clock import SystemClock


class Given(NamedTuple):
    """A clock, and how time passes for it."""

    clock: Clock
    pass_time: Callable[[float], Awaitable[None]]


def system() -> Given:
    return Given(SystemClock(), asyncio.sleep)


def manual() -> Given:
    clock = ManualClock()

    async def pass_time(seconds: float) -> None:
        await clock.settle()
        clock.move(seconds)
        await clock.settle()

    return Given(clock, pass_time)


@pytest.fixture(params=[system, manual], ids=["system", "manual"])
def given(request: pytest.FixtureRequest) -> Given:
    """Each clock in turn."""
    return request.param()


class TestClock:
    def test_tells_the_time_in_utc(self, given: Given) -> None:
        assert given.clock.now().tzinfo is UTC

    def test_writes_the_same_time_down_to_the_millisecond(self, given: Given) -> None:
        async def stamps() -> list[tuple[datetime, str, datetime]]:
            read: list[tuple[datetime, str, datetime]] = []
            for _ in range(60):
                read.append((given.clock.now(), given.clock.stamp(), given.clock.now()))
                await given.pass_time(0.02)
            return read

        for before, stamp, after in asyncio.run(stamps()):
            written = datetime.fromisoformat(stamp)
            assert written.isoformat(timespec="milliseconds") == stamp
            assert before - timedelta(milliseconds=1) <= written <= after

    def test_never_runs_backwards(self, given: Given) -> None:
        async def readings() -> list[float]:
            read = [given.clock.monotonic()]
            for _ in range(5):
                await given.pass_time(0.002)
                read.append(given.clock.monotonic())
            return read

        read = asyncio.run(readings())

        assert read == sorted(read)
        assert read[-1] > read[0]

    def test_a_sleep_lasts_as_long_as_was_asked(self, given: Given) -> None:
        async def slept() -> float:
            started = given.clock.monotonic()
            sleep = asyncio.ensure_future(given.clock.sleep(0.02))
            await given.pass_time(0.021)
            await sleep
            return given.clock.monotonic() - started

        assert asyncio.run(slept()) >= 0.019  # timers may fire a clock tick early

    def test_a_sleep_is_not_over_before_its_time(self, given: Given) -> None:
        async def is_over() -> bool:
            sleep = asyncio.ensure_future(given.clock.sleep(30))
            await given.pass_time(0.01)
            over = sleep.done()
            sleep.cancel()
            return over

        assert not asyncio.run(is_over())

    @pytest.mark.parametrize("seconds", [0.0, -1.0])
    def test_no_time_needs_no_waiting(self, given: Given, seconds: float) -> None:
        asyncio.run(asyncio.wait_for(given.clock.sleep(seconds), 120))

    def test_sleepers_wake_in_the_order_of_their_times(self, given: Given) -> None:
        woken: list[float] = []

        async def sleep(seconds: float) -> None:
            await given.clock.sleep(seconds)
            woken.append(seconds)

        async def run() -> None:
            sleeps = asyncio.gather(*(sleep(seconds) for seconds in (0.03, 0.01, 0.02)))
            for _ in range(4):
                await given.pass_time(0.01)
            await sleeps

        asyncio.run(run())

        assert woken == [0.01, 0.02, 0.03]

    def test_a_cancelled_sleep_hurts_nobody(self, given: Given) -> None:
        async def run() -> None:
            gone = asyncio.ensure_future(given.clock.sleep(0.01))
            stays = asyncio.ensure_future(given.clock.sleep(0.01))
            await given.pass_time(0)
            gone.cancel()
            await given.pass_time(0.02)
            await asyncio.wait_for(stays, 120)

        asyncio.run(run())


def test_a_jump_of_the_wall_clock_changes_no_duration() -> None:
    clock = ManualClock()
    clock.move(10)
    clock.set_wall(datetime(1999, 1, 1, tzinfo=UTC))

    assert (clock.now(), clock.monotonic()) == (datetime(1999, 1, 1, tzinfo=UTC), 10.0)


def test_the_manual_clock_carries_work_from_sleep_to_sleep() -> None:
    clock = ManualClock()

    async def work() -> datetime:
        await asyncio.gather(clock.sleep(2), clock.sleep(600))
        return clock.now()

    started = clock.now()

    assert asyncio.run(clock.carry(work())) - started == timedelta(seconds=600)


def test_the_manual_clock_says_so_when_moving_it_is_useless() -> None:
    clock = ManualClock()

    with pytest.raises(AssertionError, match="not time"):
        asyncio.run(clock.carry(asyncio.Event().wait()))
