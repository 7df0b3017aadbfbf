"""What to do next: new work first come, retries when they are due; waiting holds no slot."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from steelyard.ports import Clock

Item = TypeVar("Item")
AHEAD = 32
"""Items are made so many at a time: what makes them is then at hand, for processors too."""


@dataclass(order=True, slots=True)
class _Waiting(Generic[Item]):
    due: float
    order: int
    item: Item = field(compare=False)


class Schedule(Generic[Item]):
    """Hands out items to workers until all are done."""

    def __init__(self, source: Iterator[Item], clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._waiting: list[_Waiting[Item]] = []
        self._ahead: deque[Item] = deque()
        self._error: Exception | None = None
        """Why no further item can be made."""
        self._count = 0
        self._out = 0
        self._is_drained = False
        self._is_awaited = False
        self._changed = asyncio.Event()

    @property
    def is_only_retrying(self) -> bool:
        """Whether no first attempt is left and at least one item waits for a retry."""
        return self._is_drained and bool(self._waiting)

    @property
    def is_drained(self) -> bool:
        """Whether no first attempt is left."""
        return self._is_drained

    def retries(self) -> list[tuple[Item, float]]:
        """What waits for another attempt, each with the seconds that are left."""
        now = self._clock.monotonic()
        return [(one.item, max(0.0, one.due - now)) for one in self._waiting]

    def hurry(self) -> None:
        """Let nothing wait any longer."""
        for waiting in self._waiting:
            waiting.due = 0.0
        self._wake()

    def take_at_once(self) -> Item | None:
        """The next item, if there is one that is due."""
        item = self._ready()
        if item is not None:
            self._out += 1
        return item

    def upcoming(self, count: int) -> Sequence[Item]:
        """The first attempts that are handed out next, at most so many."""
        self._fill(count - len(self._ahead))
        return list(islice(self._ahead, count))

    async def take(self) -> Item | None:
        """The next item, as soon as there is one; None when all are done."""
        while True:
            item = self.take_at_once()
            if item is not None:
                return item
            if not self._waiting and not self._out:
                return None
            await self._wait()

    def done(self) -> None:
        """An item that was taken needs nothing more."""
        self._out -= 1
        self._wake()

    def again(self, item: Item, delay: float) -> None:
        """An item that was taken must be tried again, after a delay."""
        self._out -= 1
        self._count += 1
        heapq.heappush(self._waiting, _Waiting(self._clock.monotonic() + delay, self._count, item))
        self._wake()

    def _ready(self) -> Item | None:
        if self._waiting and self._waiting[0].due <= self._clock.monotonic():
            return heapq.heappop(self._waiting).item
        if self._is_drained:
            return None
        if not self._ahead:
            self._fill(AHEAD)
            if self._error and not self._ahead:
                raise self._error
            self._is_drained = not self._ahead
        return self._ahead.popleft() if self._ahead else None

    def _fill(self, count: int) -> None:
        """Make items; an error is raised to the taker of the next one."""
        if count <= 0 or self._error or self._is_drained:
            return
        try:
            self._ahead.extend(islice(self._source, count))
        except Exception as error:  # noqa: BLE001 - raised again where it belongs
            self._error = error

    def _wake(self) -> None:
        # Whoever waits holds the old event, so that nobody can clear it before he has looked.
        if self._is_awaited:
            self._is_awaited = False
            self._changed.set()
            self._changed = asyncio.Event()

    async def _wait(self) -> None:
        """Until something changes or the next retry is due."""
        self._is_awaited = True
        tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._changed.wait())]
        if self._waiting:
            pause = max(0.0, self._waiting[0].due - self._clock.monotonic())
            tasks.append(asyncio.ensure_future(self._clock.sleep(pause)))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
