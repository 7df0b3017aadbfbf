"""The calls at once of a run, shared out among workers that come, wait, die and end."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.shared_run import SharedRun
from steelyard.engine.allowance import START
from steelyard.engine.sharing.call_shares import ALL, divided
from steelyard.errors import TargetError

REFUSED = TargetError("rate_limited", "429", http_status=429)
UNREACHABLE = TargetError("service_unavailable", "refused", away="unreachable")
UNAVAILABLE = TargetError("service_unavailable", "503", http_status=503, away="unavailable")


@pytest.mark.parametrize(
    ("total", "wanted", "shares"),
    [
        (16, [ALL, ALL], [8, 8]),
        (16, [ALL, ALL, ALL], [6, 5, 5]),
        (16, [3, ALL], [3, 13]),
        (16, [0, ALL, ALL], [0, 8, 8]),
        (2, [ALL, ALL, ALL], [1, 1, 0]),
        (16, [2, 2], [8, 8]),
        (9, [1, 2, ALL], [1, 2, 6]),
    ],
)
def test_what_one_does_not_need_others_get(
    total: int, wanted: list[int], shares: list[int]
) -> None:
    assert list(divided(total, dict(enumerate(wanted))).values()) == shares


@given(st.integers(0, 300), st.lists(st.sampled_from([0, 1, 2, 7, 40, ALL]), min_size=1))
def test_shares_add_up_to_the_whole(total: int, wanted: list[int]) -> None:
    shares = divided(total, dict(enumerate(wanted)))

    assert sum(shares.values()) == total


class Calls:
    """What the workers of a run have in flight, and the most that it ever was."""

    def __init__(self, run: SharedRun) -> None:
        self.run = run
        self.now = [0] * len(run.workers)
        self.most = 0
        self.made = 0

    def begin(self, number: int) -> None:
        self.now[number] += 1
        self.made += 1
        self.most = max(self.most, sum(self.now))

    async def repeat(self, number: int, count: int, seconds: float = 0.05) -> None:
        """A loop of a worker makes its calls one after the other."""
        limiter = self.run.workers[number]
        for _ in range(count):
            await limiter.enter()
            self.begin(number)
            await self.run.clock.sleep(seconds)
            self.now[number] -= 1
            limiter.leave()
            limiter.answered()


def carried(count: int, use: Any, **how: Any) -> None:
    async def main() -> None:
        run = SharedRun(count, **how)
        await run.clock.carry(use(run))
        run.close()

    asyncio.run(main())


def test_a_run_begins_with_few_calls_and_grows_to_its_limit_whatever_its_workers() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        loops = [calls.repeat(number, 40) for number in range(4) for _ in range(16)]
        running = asyncio.gather(*loops)
        await run.clock.sleep(0.04)
        at_first = calls.most
        await running

        assert at_first == START
        assert calls.most == 64

    carried(4, use, most=64)


def test_the_share_of_a_worker_with_nothing_to_do_goes_to_the_others() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        few = calls.repeat(0, 10)
        many = (calls.repeat(1, 200) for _ in range(32))
        running = asyncio.gather(few, *many)
        await run.clock.sleep(3.0)

        assert run.workers[1].at_once == 32
        again = asyncio.gather(*(calls.repeat(0, 60) for _ in range(16)))
        await run.clock.sleep(0.5)
        assert run.workers[0].at_once == run.workers[1].at_once == 16
        await asyncio.gather(running, again)
        assert calls.most == 32

    carried(2, use, most=32)


def test_a_worker_whose_calls_are_short_keeps_its_share() -> None:
    """Now and then it calls, and in between it waits for its results to be kept."""

    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        many = asyncio.gather(*(calls.repeat(1, 200) for _ in range(32)))
        while not many.done():
            await asyncio.gather(*(calls.repeat(0, 1, 0.001) for _ in range(16)))
            await run.clock.sleep(0.07)
            assert run.workers[0].at_once == 16 or run.clock.elapsed < 1

        assert calls.most <= 32

    carried(2, use, most=32)


def test_a_worker_that_has_not_begun_holds_no_share() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        await asyncio.gather(*(calls.repeat(0, 100, 1.0) for _ in range(32)))

        assert calls.most == 32

    carried(3, use, most=32)


def test_a_refusal_of_one_worker_halves_the_calls_of_the_run_once() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        await asyncio.gather(*(calls.repeat(number % 2, 20) for number in range(64)))
        started = run.clock.elapsed
        for limiter in run.workers:
            for _ in range(32):
                await limiter.enter()
        await run.clock.sleep(0.01)
        for limiter in run.workers:
            for _ in range(3):
                limiter.leave()
                assert not await limiter.failed(REFUSED, started + 0.001, (0, 0))
        await run.clock.sleep(0.01)

        assert sum(limiter.at_once for limiter in run.workers) == 32

    carried(2, use, most=64)


def test_workers_take_turns_where_there_are_fewer_calls_than_workers() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        await asyncio.gather(*(calls.repeat(number, 40) for number in range(3)))

        assert calls.most == 2
        assert calls.made == 120

    carried(3, use, most=2)


def test_while_all_have_enough_to_do_nothing_is_told() -> None:
    async def use(run: SharedRun) -> None:
        calls = Calls(run)
        running = asyncio.gather(*(calls.repeat(number % 2, 200) for number in range(64)))
        await run.clock.sleep(2.0)
        before = run.told
        await run.clock.sleep(5.0)

        assert run.told == before
        await running

    carried(2, use, most=32)


class Storm:
    """Workers that die, and an endpoint that refuses, fails and is away."""

    def __init__(self, run: SharedRun, chance: random.Random) -> None:
        self.run = run
        self.calls = Calls(run)
        self._chance = chance

    def error(self) -> TargetError | None:
        """What the endpoint says."""
        if 2.0 < self.run.clock.elapsed < 12.0:
            return UNREACHABLE if self._chance.random() < 0.9 else UNAVAILABLE
        faults = (REFUSED, UNAVAILABLE, TargetError("bad_request", "no", http_status=400))
        return self._chance.choice(faults) if self._chance.random() < 0.1 else None

    async def call(self, number: int, place: int) -> bool:
        """A call of a worker; whether it is made again."""
        run, limiter = self.run, self.run.workers[number]
        await limiter.enter()
        self.calls.begin(number)
        started = run.clock.elapsed
        try:
            await run.clock.sleep(self._chance.uniform(0.01, 0.5))
        finally:
            self.calls.now[number] -= 1
        limiter.leave()
        error = self.error()
        if error is None:
            limiter.answered()
            return False
        return await limiter.failed(error, started, (place, number))

    async def life(self, number: int) -> None:
        """What one task of a worker does until its records are done, or it is killed."""
        for place in range(25):
            while await self.call(number, place):
                pass

    async def work(self, number: int) -> None:
        """A worker with its successors."""
        for _ in range(self._chance.choice([0, 0, 1, 3])):
            tasks = self._begun(number)
            await self.run.clock.sleep(self._chance.uniform(0.1, 4.0))
            for task in tasks:
                task.cancel()
            # Its calls end with the process, before anybody hears of its death.
            await asyncio.gather(*tasks, return_exceptions=True)
            self.run.kill(number)
        await asyncio.gather(*self._begun(number))
        self.run.end(number)

    def _begun(self, number: int) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self.life(number)) for _ in range(5)]


@pytest.mark.hypothesis
@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 5),
    most=st.integers(1, 40),
    late_s=st.sampled_from([0.0, 0.001, 0.05, 0.3]),
)
def test_no_worker_makes_the_run_exceed_its_limit_whatever_happens(
    seed: int, count: int, most: int, late_s: float
) -> None:
    chance = random.Random(seed)

    async def use(run: SharedRun) -> None:
        storm = Storm(run, chance)
        await asyncio.gather(*map(storm.work, range(count)))

        assert storm.calls.most <= most
        assert storm.calls.made >= 125 * count
        assert not run.limits.is_away("live")

    carried(count, use, most=most, late_s=lambda: chance.uniform(0.0, late_s))
