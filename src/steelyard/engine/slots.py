"""Places for records on their way: a record holds one from its call until it is committed."""

from __future__ import annotations

import asyncio
from collections import deque


class Slots:
    """So many places; whoever finds one free does not wait, not even for the event loop.

    A semaphore of asyncio would do, for three times as much of a record's time.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_at_once(self) -> bool:
        """Take a place, if one is free and nobody waits for it."""
        if self._free < 1 or self._waiting:
            return False
        self._free -= 1
        return True

    async def take(self) -> None:
        """Take a place as soon as one is free; first come, first served."""
        if self.take_at_once():
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # it was handed over, and nobody is there to take it
            raise

    def release(self) -> None:
        """Give a place back, or to whoever waits for one."""
        if self._free < 0:
            self._free += 1  # there are fewer places by now
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def widen(self, more: int) -> None:
        """Make more places, and give them to whoever waits."""
        self._count += more
        for _ in range(more):
            self.release()

    def narrow(self, fewer: int) -> None:
        """Make fewer places; one that is taken is no more when it is given back."""
        self._count -= fewer
        self._free -= fewer

    def resize(self, count: int) -> None:
        """From now on there are so many places."""
        more = count - self._count
        if more > 0:
            self.widen(more)
        elif more:
            self.narrow(-more)

    async def take_all(self) -> None:
        """Take every place, when all have been given back."""
        for _ in range(self._count):
            await self.take()
