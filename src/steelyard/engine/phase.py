"""Whether a run is running, only retrying or cancelled, over all the loops that work on it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from steelyard.model.run import RunState


class Phase:
    """Contract 2 has two states for a run at work; this tells when one becomes the other.

    A run is retrying when no first attempt is left anywhere and at least one record waits. One
    that is cancelled is finalizing as soon as it makes no further call; one in another state than
    these was cancelled before it began, or earlier, and stays there.
    """

    def __init__(self, state: RunState, move: Callable[[RunState], Awaitable[None]]) -> None:
        self._state: RunState = "retrying" if state == "retrying" else "running"
        self._is_over = state not in {"running", "retrying"}
        self._move = move
        self._open: dict[object, bool] = {}
        """The loops that are not through, and whether each is only retrying."""

    def join(self, loop: object) -> None:
        """One more loop works on the run."""
        self._open[loop] = False

    async def report(self, loop: object, *, is_only_retrying: bool) -> None:
        """Report the state of a loop; cheap unless it has changed."""
        if self._open.get(loop) is not is_only_retrying:
            self._open[loop] = is_only_retrying
        if is_only_retrying or self._state == "retrying":
            await self._settle()

    async def leave(self, loop: object) -> None:
        """A loop is through."""
        self._open.pop(loop, None)
        if self._open:
            await self._settle()

    async def stop(self) -> None:
        """The run is cancelled: no loop makes a further call, and what is left is only stored."""
        if not self._is_over:
            self._is_over = True
            await self._move("finalizing")

    async def _settle(self) -> None:
        state: RunState = "retrying" if all(self._open.values()) else "running"
        if state != self._state and not self._is_over:
            self._state = state
            await self._move(state)


class JudgesPhase:
    """The part of judges in it: they are one more loop as long as there is a record to judge."""

    def __init__(self, phase: Phase) -> None:
        self._phase = phase
        self._records = 0
        self._calls = 0
        self._waits = 0

    def enter(self) -> None:
        """One more record is judged."""
        if not self._records:
            self._phase.join(self)
        self._records += 1

    async def leave(self) -> None:
        """A record needs no judge any more."""
        self._records -= 1
        if not self._records:
            await self._phase.leave(self)

    @asynccontextmanager
    async def call(self) -> AsyncGenerator[None]:
        """While a judge is asked, waits for a retry included."""
        self._calls += 1
        await self._report()
        try:
            yield
        finally:
            self._calls -= 1
        await self._report()

    @asynccontextmanager
    async def wait(self) -> AsyncGenerator[None]:
        """While a call waits for its next attempt."""
        self._waits += 1
        await self._report()
        try:
            yield
        finally:
            self._waits -= 1
        await self._report()

    async def _report(self) -> None:
        if self._records:
            is_only_retrying = 0 < self._waits == self._calls
            await self._phase.report(self, is_only_retrying=is_only_retrying)
