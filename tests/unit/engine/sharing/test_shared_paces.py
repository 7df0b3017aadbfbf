"""The calls and tokens a minute of a run, granted to workers that wait, die and end."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.clock import ManualClock
from fakes.shared_run import SharedRun
from steelyard.errors import TargetError

MINUTE_S = 60 - 1e-3
_TURNS = 12
UNREACHABLE = TargetError("service_unavailable", "refused", away="unreachable")


def _one(_: int) -> int:
    return 1


class Pacing:
    """When which calls of the workers of a run were begun."""

    def __init__(self, run: SharedRun) -> None:
        self.run = run
        self.begun: list[tuple[float, int]] = []

    async def call(self, number: int, tokens: int = 0, seconds: float = 0.05) -> None:
        """A call of a worker."""
        limiter = self.run.workers[number]
        await limiter.enter(tokens)
        self.begun.append((self.run.clock.elapsed, tokens))
        try:
            await self.run.clock.sleep(seconds)
        finally:
            limiter.leave()
        limiter.answered(tokens, tokens)

    async def repeat(self, number: int, count: int, tokens: int = 0) -> None:
        """A loop of a worker makes its calls one after the other."""
        for _ in range(count):
            await self.call(number, tokens)

    def most(self, units: Callable[[int], int] = _one) -> int:
        """The most calls, or tokens, of any minute."""
        most = within = first = 0
        for at, tokens in self.begun:
            within += units(tokens)
            while at - self.begun[first][0] >= MINUTE_S:
                within -= units(self.begun[first][1])
                first += 1
            most = max(most, within)
        return most


def carried(count: int, use: Any, **how: Any) -> None:
    async def main() -> None:
        run = SharedRun(count, clock=ManualClock(turns=_TURNS), **how)
        await run.clock.carry(use(run))
        run.close()

    asyncio.run(main())


def test_three_workers_make_no_more_than_ten_calls_a_minute_and_no_fewer() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await asyncio.gather(*(pacing.repeat(number % 3, 6) for number in range(6)))

        assert len(pacing.begun) == 36
        assert pacing.most() == 10
        assert 35 * 6 <= run.clock.elapsed <= 35 * 6 * 1.05

    carried(3, use, paces=(10, None))


def test_one_worker_uses_what_an_idle_one_does_not() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await pacing.repeat(0, 5)
        await asyncio.gather(*(pacing.repeat(1, 40) for _ in range(15)))

        assert 600 / 605 * 60 <= run.clock.elapsed <= 66

    carried(3, use, paces=(600, None))


def test_a_worker_asks_about_once_a_second() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        running = asyncio.gather(*(pacing.repeat(n % 3, 28) for n in range(48)))
        await run.clock.sleep(5)
        before, begun = run.told, len(pacing.begun)
        await run.clock.sleep(15)

        assert len(pacing.begun) - begun >= 0.95 * 750
        # A question and its answer, and at times a word of what was not used.
        assert run.told - before <= 3 * 15 * 3.5
        await running

    carried(3, use, most=48, paces=(3000, None))


def test_a_run_without_a_pace_says_nothing_of_it() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        running = asyncio.gather(*(pacing.repeat(n % 2, 200) for n in range(32)))
        await run.clock.sleep(3)
        before = run.told
        await run.clock.sleep(4)

        assert run.told == before
        await running

    carried(2, use)


def test_tokens_beyond_the_estimate_are_paid_for_by_the_calls_of_all_workers() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await run.workers[0].enter(10)
        run.workers[0].leave()
        run.workers[0].answered(10, 310)
        await run.clock.sleep(2)
        await pacing.call(1, 10)

        assert 30 <= pacing.begun[0][0] <= 33

    carried(2, use, paces=(None, 600))


def test_a_call_larger_than_a_minute_has_one_for_itself() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await pacing.call(0, 10)
        await pacing.call(1, 500)
        await pacing.call(0, 10)
        at = [begun for begun, _ in pacing.begun]

        assert 60 <= at[1] <= 64
        assert 360 <= at[2] <= 366

    carried(2, use, paces=(None, 100))


def test_what_a_worker_that_ends_has_left_is_for_the_others() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        waiting = [asyncio.ensure_future(pacing.call(0)) for _ in range(2)]
        await run.clock.sleep(5.5)
        for one in waiting:
            one.cancel()
        run.workers[0].close()
        await run.clock.sleep(0.1)
        await pacing.call(1)

        assert pacing.begun[-1][0] <= 6.7

    carried(2, use, paces=(10, None))


def test_what_a_dead_worker_was_granted_counts_as_used() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        waiting = [asyncio.ensure_future(pacing.call(0)) for _ in range(2)]
        await run.clock.sleep(5.5)
        for one in waiting:
            one.cancel()
        run.kill(0)
        await pacing.call(1)

        assert 12 <= pacing.begun[-1][0] <= 12.1

    carried(2, use, paces=(10, None))


def test_calls_wait_while_an_endpoint_wants_silence_and_then_keep_the_pace() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await pacing.call(0)
        run.workers[0].asked_to_wait(20)
        await asyncio.gather(pacing.repeat(0, 5), pacing.repeat(1, 5))

        assert min(at for at, _ in pacing.begun[1:]) >= 20
        assert pacing.most() <= 10

    carried(2, use, paces=(10, None))


def test_a_probe_keeps_the_pace() -> None:
    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)
        await pacing.call(0)
        await run.workers[0].enter()
        run.workers[0].leave()
        started = run.clock.elapsed
        assert await run.workers[0].failed(UNREACHABLE, started, (0, 0))
        await asyncio.gather(pacing.repeat(0, 8), pacing.repeat(1, 8))

        assert not run.limits.is_away("live")
        assert pacing.most() <= 30

    carried(2, use, paces=(30, None))


class Crowd:
    """Workers that die, while their calls take their time."""

    def __init__(self, run: SharedRun, chance: random.Random, tokens: int) -> None:
        self.pacing = Pacing(run)
        self._run = run
        self._chance = chance
        self._tokens = tokens
        self.left = [chance.randrange(30) for _ in run.workers]

    async def life(self, number: int) -> None:
        """What one task of a worker does until its records are done, or it is killed."""
        while self.left[number] > 0:
            self.left[number] -= 1
            try:
                tokens = self._chance.randint(0, self._tokens)
                await self.pacing.call(number, tokens, self._chance.uniform(0.01, 2.0))
            except asyncio.CancelledError:
                self.left[number] += 1
                raise

    async def work(self, number: int) -> None:
        """A worker with its successors."""
        for _ in range(self._chance.choice([0, 1, 3])):
            tasks = self._begun(number)
            await self._run.clock.sleep(self._chance.uniform(0.1, 20.0))
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._run.kill(number)
        await asyncio.gather(*self._begun(number))
        self._run.end(number)

    def _begun(self, number: int) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self.life(number)) for _ in range(8)]


@pytest.mark.hypothesis
@settings(deadline=None, max_examples=8)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 5),
    requests=st.sampled_from([None, 10, 50, 100, 600]),
    tokens=st.sampled_from([None, 1000, 5000]),
    late_s=st.sampled_from([0.0, 0.001, 0.05, 0.3, 3.0]),
)
def test_in_no_minute_do_workers_make_more_calls_than_allowed_whatever_happens(
    seed: int, count: int, requests: float | None, tokens: int | None, late_s: float
) -> None:
    chance = random.Random(seed)

    async def use(run: SharedRun) -> None:
        crowd = Crowd(run, chance, (tokens or 0) // 20)
        await asyncio.gather(*map(crowd.work, range(count)))

        assert not any(crowd.left)
        assert crowd.pacing.most() <= (math.ceil(requests) if requests else math.inf)
        assert crowd.pacing.most(int) <= (tokens or math.inf)

    carried(
        count,
        use,
        most=8 * count,
        paces=(requests, tokens),
        late_s=lambda: chance.uniform(0.0, late_s),
    )


@pytest.mark.hypothesis
@settings(deadline=None, max_examples=8)
@given(
    seed=st.integers(0, 2**32),
    count=st.integers(1, 5),
    pace=st.sampled_from([(10, None), (70, None), (600, None), (None, 3000), (400, 3000)]),
    late_s=st.sampled_from([0.0, 0.001, 0.05, 0.2]),
)
def test_the_whole_pace_is_used_while_there_is_work(
    seed: int, count: int, pace: tuple[float | None, float | None], late_s: float
) -> None:
    chance = random.Random(seed)

    async def use(run: SharedRun) -> None:
        pacing = Pacing(run)

        async def work(number: int) -> None:
            while run.clock.elapsed < 180:
                tokens = chance.randint(5, 25)
                await pacing.call(number, tokens, chance.uniform(0.05, 0.5))

        await asyncio.gather(*(work(n % count) for n in range(15)))
        requests, tokens = pace
        begun = [(at, size) for at, size in pacing.begun if 60 <= at < 180]
        used = max(
            len(begun) / 2 / (requests or math.inf),
            sum(size for _, size in begun) / 2 / (tokens or math.inf),
        )

        assert used >= 0.9
        assert pacing.most() <= (requests or math.inf)
        assert pacing.most(int) <= (tokens or math.inf)

    carried(count, use, most=15, paces=pace, late_s=lambda: chance.uniform(0.0, late_s))
