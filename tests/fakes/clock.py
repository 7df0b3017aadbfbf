"""A clock that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

Answer = TypeVar("Answer")
_SETTLED = 100
"""Turns of the loop after which everything that can go on without time has done so."""


class ManualClock:
    """Stands still until it is moved; whoever sleeps wakes when his time has come."""

    def __init__(self, turns: int = _SETTLED) -> None:
        self._turns = turns
        self.elapsed = 0.0
        self._start = datetime(2026, 1, 15, 12, tzinfo=UTC)
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return self._start + timedelta(seconds=self.elapsed)

    def stamp(self) -> str:
        """The wall clock as it is written down."""
        return self.now().isoformat(timespec="milliseconds")

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock has been moved that far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        self._count += 1
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.elapsed + seconds, self._count, woken))
        await woken

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.elapsed += seconds
        while self._sleepers and self._sleepers[0][0] <= self.elapsed:
            woken = heapq.heappop(self._sleepers)[2]
            if not woken.done():
                woken.set_result(None)

    def set_wall(self, now: datetime) -> None:
        """What an administrator or a time server does; durations do not notice."""
        self._start = now - timedelta(seconds=self.elapsed)

    async def settle(self) -> None:
        """Everything that needs no time happens."""
        for _ in range(self._turns):
            await asyncio.sleep(0)

    async def carry(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Move from one sleeper to the next until the work is done."""
        task = asyncio.ensure_future(work)
        idle = 0
        while not task.done():
            await self.settle()
            due = [due for due, _, woken in self._sleepers if not woken.done()]
            idle = 0 if due else idle + 1
            assert idle < _SETTLED, "the work waits for something that is not time"
            if due and not task.done():
                self.move(max(0.0, min(due) - self.elapsed))
        return await task
