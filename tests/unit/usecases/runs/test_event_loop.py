"""The event loop goes on while a run is planned, carried out and sealed."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from contextlib import suppress
from itertools import pairwise

import pytest

from fakes.projects import Project, row
from fakes.stops import Stopped
from fakes.targets import ScriptedTarget
from steelyard.execution.run_options import RunOptions
from steelyard.execution.worker_thread import in_thread
from steelyard.usecases.runs.execute import plan_run, start_run

RECORDS = 5_000
BEAT_S = 0.01


class Heartbeat:
    """Beats as long as the loop lets it."""

    def __init__(self) -> None:
        self.beats: list[float] = []
        self.cpu: list[float] = []
        """The CPU time that the thread of the loop has taken until each."""
        self._task = asyncio.ensure_future(self._beat())

    async def _beat(self) -> None:
        while True:
            self.beats.append(time.monotonic())
            self.cpu.append(time.thread_time())
            await asyncio.sleep(BEAT_S)

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def gaps(self, begin: float, end: float) -> list[float]:
        """How long nothing beat, each time between two moments."""
        times = [begin, *(beat for beat in self.beats if begin < beat < end), end]
        return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.no_cover
def test_nothing_holds_the_loop_from_plan_to_seal(project: Project) -> None:
    dataset = project.cases(row(f"r{number}", input=f"{number}?") for number in range(RECORDS))
    ports = project.ports(ScriptedTarget())
    marks: list[float] = []
    answered: list[float] = []

    async def run() -> Heartbeat:
        heartbeat = Heartbeat()
        marks.append(time.monotonic())
        prepared = await plan_run(ports, RunOptions(dataset=dataset, target="scripted"))
        marks.append(time.monotonic())
        await start_run(
            ports, prepared, lambda _: None, lambda _: answered.append(time.monotonic())
        )
        marks.append(time.monotonic())
        await heartbeat.stop()
        return heartbeat

    gc.collect()
    gc.disable()  # a collection walks over what all tests before this one left, in any thread
    try:
        heartbeat = asyncio.run(run())
    finally:
        gc.enable()
    begun, planned, ended = marks
    planning, finalizing = heartbeat.gaps(begun, planned), heartbeat.gaps(answered[-1], ended)

    # On a busy machine a beat comes late: CPU time shows how long the loop itself was held.
    worked = [later - earlier for earlier, later in pairwise(heartbeat.cpu)]
    assert len(answered) == RECORDS
    assert min(len(planning), len(finalizing)) > 10
    assert max(worked) < sum(worked) / 4


def test_a_cancellation_waits_for_work_that_has_begun() -> None:
    begun, may_end = threading.Event(), threading.Event()
    done: list[str] = []

    def work() -> None:
        begun.set()
        may_end.wait()
        done.append("work")

    async def run() -> None:
        task = asyncio.ensure_future(in_thread(work))
        await asyncio.to_thread(begun.wait)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        done.append("task")

    asyncio.run(run())

    assert done == ["work", "task"]


def test_what_fails_in_a_thread_fails_where_it_is_awaited() -> None:
    def work() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        asyncio.run(in_thread(work))
