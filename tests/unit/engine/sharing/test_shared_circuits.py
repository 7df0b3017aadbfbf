"""A target that is away is away for all workers of a run, and one of them probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest

from fakes.shared_run import SharedRun
from steelyard.engine.circuit import CALLS_TO_STOP, RECORDS_TO_OPEN
from steelyard.engine.sharing.shared_limits import SharedLimiter
from steelyard.errors import TargetError, TargetStoppedError

UNAVAILABLE = TargetError("service_unavailable", "503", http_status=503, away="unavailable")
REFUSED = TargetError("service_unavailable", "refused", away="unreachable")


def during(count: int, use: Callable[[SharedRun], Coroutine[Any, Any, None]], **how: Any) -> None:
    async def main() -> None:
        run = SharedRun(count, **how)
        await run.clock.carry(use(run))
        run.close()

    asyncio.run(main())


async def fail(run: SharedRun, worker: SharedLimiter, place: int, error: TargetError) -> bool:
    """A call of a worker fails; whether it is made again."""
    await worker.enter()
    started = run.clock.elapsed
    worker.leave()
    return await worker.failed(error, started, (place, 0))


def test_failures_of_all_workers_add_up() -> None:
    async def use(run: SharedRun) -> None:
        made = [
            await fail(run, run.workers[place % 3], place, UNAVAILABLE)
            for place in range(RECORDS_TO_OPEN)
        ]
        await run.clock.sleep(0.01)

        assert made == [False] * (RECORDS_TO_OPEN - 1) + [True]
        assert [worker.is_probing for worker in run.workers] == [True] * 3
        assert run.warned == ["the target 'live' is away: 503; waiting for it"]

    during(3, use, has_answered=lambda: True)


def test_an_answer_of_another_worker_says_that_only_records_fail() -> None:
    async def use(run: SharedRun) -> None:
        for place in range(2 * RECORDS_TO_OPEN):
            assert not await fail(run, run.workers[0], place, UNAVAILABLE)
            await run.clock.sleep(0.01)
            run.workers[1].answered()
            await run.clock.sleep(0.01)

        assert not run.workers[0].is_probing

    during(2, use, has_answered=lambda: True)


def test_answers_cost_no_message_while_nothing_fails() -> None:
    async def use(run: SharedRun) -> None:
        for worker in run.workers:
            await worker.enter()
            worker.leave()
            worker.answered()
        await run.clock.sleep(0.1)
        before = run.told
        for _ in range(1000):
            for worker in run.workers:
                assert worker.enter_at_once()
                worker.leave()
                worker.answered()

        assert run.told == before

    during(2, use)


def test_one_worker_at_a_time_probes_a_target_that_is_away() -> None:
    probes: list[tuple[float, int]] = []

    async def call(run: SharedRun, number: int) -> None:
        worker = run.workers[number]
        while True:
            await worker.enter()
            started = run.clock.elapsed
            if worker.is_probing:
                probes.append((started, number))
            await run.clock.sleep(0.2)
            worker.leave()
            if started > 30:
                worker.answered()
                return
            assert await worker.failed(REFUSED, started, (number, 0))

    async def use(run: SharedRun) -> None:
        await asyncio.gather(*(call(run, number) for number in range(3) for _ in range(2)))

        times = [at for at, _ in probes]
        gaps = [after - before for before, after in pairwise(times)]
        assert 4 <= len(probes) <= 8
        assert min(gaps) > 1.0
        assert not any(worker.is_probing for worker in run.workers)

    during(3, use, has_answered=lambda: True)


@pytest.mark.parametrize("how", ["dies", "ends"])
def test_a_worker_that_is_gone_leaves_its_probe_to_another(how: str) -> None:
    async def use(run: SharedRun) -> None:
        assert await fail(run, run.workers[0], 0, REFUSED)
        await run.workers[0].enter()
        assert run.workers[0].is_probing
        waiting = asyncio.ensure_future(run.workers[1].enter())
        await run.clock.sleep(5)
        assert not waiting.done()
        (run.kill if how == "dies" else run.end)(0)
        await waiting
        run.workers[1].answered()
        await run.clock.sleep(0.01)

        assert not run.workers[1].is_probing
        assert any("answers again after" in one for one in run.warned)

    during(2, use, has_answered=lambda: True)


def test_a_successor_learns_that_the_target_is_away() -> None:
    async def use(run: SharedRun) -> None:
        assert await fail(run, run.workers[0], 0, REFUSED)
        worker = run.kill(1)
        await run.clock.sleep(0.01)

        assert worker.is_probing

    during(2, use, has_answered=lambda: True)


def test_a_target_that_is_away_too_long_is_stopped_for_all() -> None:
    async def call(run: SharedRun, worker: SharedLimiter) -> None:
        while True:
            await worker.enter()
            started = run.clock.elapsed
            worker.leave()
            await worker.failed(REFUSED, started, (0, 0))

    async def use(run: SharedRun) -> None:
        calls = [asyncio.ensure_future(call(run, worker)) for worker in run.workers]
        ended = await asyncio.gather(*calls, return_exceptions=True)

        assert [type(one) for one in ended] == [TargetStoppedError] * 3
        assert all("limits.outage_s" in str(one) for one in ended)
        assert 60 <= run.clock.elapsed < 80

    during(3, use, has_answered=lambda: True, outage_s=60.0)


def test_the_first_calls_of_all_workers_together_stop_a_target_that_refuses_for_good() -> None:
    wrong = TargetError("unauthorized", "wrong key", http_status=401)

    async def use(run: SharedRun) -> None:
        for place in range(CALLS_TO_STOP - 1):
            assert not await fail(run, run.workers[place % 3], place, wrong)
        with pytest.raises(TargetStoppedError, match="its first 10 calls all failed for good"):
            await fail(run, run.workers[0], CALLS_TO_STOP, wrong)

    during(3, use)


def test_what_one_worker_is_asked_to_wait_all_wait() -> None:
    refused = TargetError("rate_limited", "429", http_status=429, retry_after_s=20.0)

    async def use(run: SharedRun) -> None:
        assert not await fail(run, run.workers[0], 0, refused)
        begun = run.clock.elapsed
        await run.clock.sleep(0.01)
        late = run.kill(2)
        await run.clock.sleep(0.01)

        async def call(worker: SharedLimiter) -> None:
            await worker.enter()
            begun_at.append(run.clock.elapsed)
            worker.leave()

        begun_at: list[float] = []
        await asyncio.gather(*map(call, (run.workers[0], run.workers[1], late)))

        assert 20.0 <= min(begun_at) - begun <= max(begun_at) - begun < 24.0

    during(3, use)
