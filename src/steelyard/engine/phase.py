"""Whether a run is running or only retrying, over all the loops that work on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from steelyard.model.run import RunState


class Phase:
    """Contract 2 has two states for a run at work; this tells when one becomes the other.

    A run is retrying when no first attempt is left anywhere and at least one record waits.
    """

    def __init__(self, state: RunState, move: Callable[[RunState], Awaitable[None]]) -> None:
        self._state: RunState = "retrying" if state == "retrying" else "running"
        self._move = move
        self._open: dict[object, bool] = {}
        """The loops that are not through, and whether each is only retrying."""

    def join(self, loop: object) -> None:
        """One more loop works on the run."""
        self._open[loop] = False

    async def tell(self, loop: object, *, is_only_retrying: bool) -> None:
        """How one loop stands; cheap unless that has changed."""
        if self._open.get(loop) is not is_only_retrying:
            self._open[loop] = is_only_retrying
        if is_only_retrying or self._state == "retrying":
            await self._settle()

    async def leave(self, loop: object) -> None:
        """A loop is through."""
        self._open.pop(loop, None)
        if self._open:
            await self._settle()

    async def _settle(self) -> None:
        state: RunState = "retrying" if all(self._open.values()) else "running"
        if state != self._state:
            self._state = state
            await self._move(state)
