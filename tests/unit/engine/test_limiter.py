"""How many calls a target gets: at once, a minute, and after it has refused one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from steelyard.engine.limiter import START, Limiter

JUST_OVER = 1e-3


def during(use: Callable[[ManualClock], Coroutine[Any, Any, None]]) -> None:
    """Use a clock, which moves as needed."""

    async def run() -> None:
        clock = ManualClock()
        await clock.carry(use(clock))

    asyncio.run(run())


async def enter(limiter: Limiter, count: int) -> None:
    """Begin so many calls, one after the other."""
    for _ in range(count):
        await limiter.enter()


def answer(limiter: Limiter, count: int) -> None:
    """So many calls are answered."""
    for _ in range(count):
        limiter.leave()
        limiter.answered()


async def soon() -> None:
    """Whoever can go on does so, before the clock is moved."""
    for _ in range(10):
        await asyncio.sleep(0)


async def is_waiting(entering: Awaitable[None]) -> asyncio.Future[None] | None:
    """What waits, unless it came in."""
    task = asyncio.ensure_future(entering)
    await soon()
    return None if task.done() else task


@pytest.mark.parametrize(("most", "at_first"), [(1, 1), (15, 15), (16, 16), (17, 16), (500, 16)])
def test_a_target_gets_few_calls_at_first(most: int, at_first: int) -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, most)
        assert limiter.at_once == at_first <= START
        await enter(limiter, at_first)
        one_more = await is_waiting(limiter.enter())

        assert one_more
        assert limiter.in_flight == at_first
        one_more.cancel()

    during(use)


def test_every_answer_allows_one_call_more_up_to_the_most() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 20)
        allowed: list[int] = []
        for _ in range(6):
            await limiter.enter()
            answer(limiter, 1)
            allowed.append(limiter.at_once)

        assert allowed == [17, 18, 19, 20, 20, 20]

    during(use)


def test_a_place_that_an_answer_makes_is_taken_at_once() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 20)
        await enter(limiter, 16)
        waiting = [asyncio.ensure_future(limiter.enter()) for _ in range(3)]
        await soon()
        answer(limiter, 1)
        await soon()

        assert [task.done() for task in waiting] == [True, True, False]
        assert limiter.in_flight == 17
        waiting[2].cancel()

    during(use)


def test_a_refusal_halves_the_calls_at_once_and_they_grow_again_slowly() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 64)
        await enter(limiter, 16)
        clock.move(1)
        limiter.leave()
        limiter.refused(0.5, None)
        assert limiter.at_once == 8
        answer(limiter, 15)
        grown = limiter.at_once
        for _ in range(100):
            await limiter.enter()
            answer(limiter, 1)

        assert grown == 9
        assert 16 <= limiter.at_once <= 18

    during(use)


def test_the_refusals_of_one_wave_count_once_and_those_of_the_next_again() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16)
        await enter(limiter, 16)
        clock.move(1)
        halved: list[int] = []
        for started in (0.0, 0.0, 1.0, 1.1, 1.1):
            clock.move(0.2)
            limiter.leave()
            limiter.refused(started, None)
            halved.append(limiter.at_once)

        # Those that began before the first cut at 1.2 s say nothing about it.
        assert halved == [8, 8, 8, 8, 8]
        limiter.leave()
        limiter.refused(2.0, None)
        assert limiter.at_once == 4

    during(use)


def test_a_cut_starts_from_the_calls_that_there_are() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16)
        await enter(limiter, 4)
        clock.move(1)
        limiter.leave()
        limiter.refused(0.5, None)

        assert limiter.at_once == 2

    during(use)


def test_one_call_at_once_is_always_allowed() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 4)
        for _ in range(5):
            await limiter.enter()
            clock.move(1)
            limiter.leave()
            limiter.refused(clock.elapsed, None)

        assert limiter.at_once == 1
        await limiter.enter()

    during(use)


@pytest.mark.parametrize(
    ("demanded", "held"),
    [(None, 0), (0.0, 0), (7.0, 7), (300.0, 300), (300.1, 0), (math.inf, 0)],
)
def test_a_server_that_asks_for_silence_gets_it_from_every_call(
    demanded: float | None, held: float
) -> None:
    """Unless it asks for more than a retry would wait: then each call is told so itself."""

    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16)
        await limiter.enter()
        limiter.leave()
        limiter.refused(0.0, demanded)
        await limiter.enter()

        assert clock.elapsed == pytest.approx(held)

    during(use)


def test_silence_that_is_asked_for_meanwhile_holds_those_that_wait() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16)
        await enter(limiter, 16)
        limiter.leave()
        limiter.refused(0.0, 2.0)
        answer(limiter, 14)
        waiting = [asyncio.ensure_future(limiter.enter()) for _ in range(3)]
        await soon()
        clock.move(1)
        limiter.leave()
        limiter.refused(0.0, 10.0)
        await asyncio.gather(*waiting)

        assert clock.elapsed == 11

    during(use)


def test_silence_is_no_reason_for_a_rush_afterwards() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16, requests_per_minute=60)
        starts = [await started(limiter, clock)]
        waiting = [asyncio.ensure_future(started(limiter, clock)) for _ in range(5)]
        await soon()
        limiter.leave()
        limiter.refused(0.0, 30.0)
        starts += await asyncio.gather(*waiting)

        assert starts == pytest.approx([0, 30, 31, 32, 33, 34])

    during(use)


async def started(limiter: Limiter, clock: ManualClock, tokens: int = 0) -> float:
    """When a call could begin."""
    await limiter.enter(tokens)
    return clock.elapsed


def test_whoever_comes_first_is_served_first() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 1)
        order: list[int] = []

        async def call(number: int) -> None:
            await limiter.enter()
            order.append(number)
            await clock.sleep(1)
            limiter.leave()
            limiter.answered()

        await asyncio.gather(*(call(number) for number in range(10)))
        assert order == list(range(10))

    during(use)


def test_nobody_slips_in_before_one_who_was_called() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 1)
        await limiter.enter()
        first = asyncio.ensure_future(limiter.enter())
        await soon()
        limiter.leave()
        second = await is_waiting(limiter.enter())

        assert first.done()
        assert second
        second.cancel()

    during(use)


@pytest.mark.parametrize("is_called", [False, True])
def test_one_who_gives_up_passes_his_turn_on(is_called: bool) -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 1)
        await limiter.enter()
        first, second = (asyncio.ensure_future(limiter.enter()) for _ in range(2))
        await soon()
        if is_called:
            limiter.leave()
        first.cancel()
        await soon()
        if not is_called:
            limiter.leave()
        await second

        assert first.cancelled()
        assert limiter.in_flight == 1

    during(use)


def test_one_who_gives_up_while_he_waits_for_the_pace_takes_nothing_from_it() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16, requests_per_minute=6)
        await limiter.enter()
        waiting = [asyncio.ensure_future(started(limiter, clock)) for _ in range(3)]
        await soon()
        waiting[0].cancel()
        waiting[1].cancel()

        assert await waiting[2] == pytest.approx(10)
        assert limiter.in_flight == 2

    during(use)


def test_tokens_over_the_estimate_are_paid_for_by_later_calls() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16, tokens_per_minute=600)
        begin = [await started(limiter, clock, 10)]
        limiter.leave()
        limiter.answered(10, 310)
        begin.append(await started(limiter, clock, 10))
        limiter.leave()
        limiter.answered(10, 5)
        begin.append(await started(limiter, clock, 10))
        limiter.leave()
        limiter.answered(10, None)
        begin.append(await started(limiter, clock, 10))

        assert begin == pytest.approx([0, 31, 32, 33])

    during(use)


def test_a_call_of_more_tokens_than_a_minute_has_gets_a_minute_for_itself() -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 16, tokens_per_minute=100)
        begin = [await started(limiter, clock, tokens) for tokens in (10, 500, 10)]

        assert begin[0] == 0
        assert begin[1] == pytest.approx(60)
        assert begin[2] == pytest.approx(360)

    during(use)


@given(
    rate=st.sampled_from([1, 7, 30, 60, 100, 1.5, 0.5]),
    pauses=st.lists(st.floats(0, 90), min_size=1, max_size=40),
)
def test_in_no_minute_are_there_more_calls_than_allowed(rate: float, pauses: list[float]) -> None:
    begin: list[float] = []

    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 3, requests_per_minute=rate)

        async def call(pause: float) -> None:
            begin.append(await started(limiter, clock))
            await clock.sleep(pause)
            limiter.leave()
            limiter.answered()

        await asyncio.gather(*(call(pause) for pause in pauses))

    during(use)

    for start in begin:
        within = [at for at in begin if start <= at < start + 60 - JUST_OVER]
        assert len(within) <= math.ceil(rate)
    assert all(later - earlier >= 60 / rate - JUST_OVER for earlier, later in pairwise(begin))


@given(
    rate=st.integers(50, 1000),
    calls=st.lists(st.tuples(st.integers(0, 400), st.floats(0, 90)), min_size=1, max_size=40),
)
def test_in_no_minute_are_there_more_tokens_than_allowed(
    rate: int, calls: list[tuple[int, float]]
) -> None:
    """But for a call that is more than a minute by itself, which has one for itself."""
    begin: list[tuple[float, int]] = []

    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, 3, tokens_per_minute=rate)

        async def call(tokens: int, pause: float) -> None:
            begin.append((await started(limiter, clock, tokens), tokens))
            await clock.sleep(pause)
            limiter.leave()
            limiter.answered(tokens, tokens)

        await asyncio.gather(*(call(*made) for made in calls))

    during(use)

    for start, _ in begin:
        within = [taken for at, taken in begin if start <= at < start + 60 - JUST_OVER]
        assert sum(within) <= max(rate, *within)


CALLS = st.lists(
    st.tuples(st.floats(0.1, 5), st.sampled_from(["yes", "yes", "yes", "429", "gives up"])),
    max_size=60,
)


class Crowd:
    """Calls that come in together and end as they like."""

    def __init__(self, clock: ManualClock, limiter: Limiter, most: int) -> None:
        self.at_once = 0
        self.answered = 0
        self._clock = clock
        self._limiter = limiter
        self._most = most
        self._granted = 0

    async def call(self, takes: float, said: str) -> None:
        allowed = self._limiter.at_once
        await self._limiter.enter()
        self.at_once += 1
        assert self.at_once <= self._limiter.in_flight <= self._most
        assert self.at_once <= max(allowed, self._granted, self._limiter.at_once)
        began = self._clock.elapsed
        try:
            await self._clock.sleep(takes)
        finally:
            self.at_once -= 1
            # Whoever is given the place now may start after the limit is cut.
            self._granted = self._limiter.at_once
            self._limiter.leave()
        if said == "429":
            self._limiter.refused(began, takes)
        else:
            self._limiter.answered()
        self.answered += 1


@given(most=st.integers(1, 20), calls=CALLS)
def test_there_are_never_more_calls_at_once_than_allowed_and_none_is_lost(
    most: int, calls: list[tuple[float, str]]
) -> None:
    async def use(clock: ManualClock) -> None:
        limiter = Limiter(clock, most)
        crowd = Crowd(clock, limiter, most)
        tasks = [asyncio.ensure_future(crowd.call(*made)) for made in calls]
        await soon()
        for task, (_, said) in zip(tasks, calls, strict=True):
            if said == "gives up":
                task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)

        assert {type(end) for end in ended} <= {type(None), asyncio.CancelledError}
        assert crowd.answered == sum(said != "gives up" for _, said in calls)
        assert (limiter.in_flight, crowd.at_once) == (0, 0)
        await limiter.enter()

    during(use)
