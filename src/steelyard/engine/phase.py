"""Whether a run is running, only retrying or cancelled, over all the loops that work on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

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
        if self.note(loop, is_only_retrying=is_only_retrying):
            await self._settle()

    def note(self, loop: object, *, is_only_retrying: bool) -> bool:
        """Note the state of a loop; whether that may change the run's, and is to be reported."""
        if self._open.get(loop) is not is_only_retrying:
            self._open[loop] = is_only_retrying
        return is_only_retrying or self._state == "retrying"

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

    def call(self) -> _Counted:
        """While a judge is asked, waits for a retry included."""
        return _Counted(self, calls=1)

    def wait(self) -> _Counted:
        """While a call waits for its next attempt."""
        return _Counted(self, waits=1)

    def add(self, calls: int, waits: int) -> None:
        """So many more calls are under way, and so many more of them wait."""
        self._calls += calls
        self._waits += waits

    @property
    def is_due(self) -> bool:
        """Whether the state of judging may change that of the run."""
        is_only_retrying = self._is_only_retrying
        return bool(self._records) and self._phase.note(self, is_only_retrying=is_only_retrying)

    async def report(self) -> None:
        """Report what has changed."""
        if self._records:
            await self._phase.report(self, is_only_retrying=self._is_only_retrying)

    @property
    def _is_only_retrying(self) -> bool:
        return 0 < self._waits == self._calls


class _Counted:
    """Counts a call or a wait for as long as it lasts."""

    __slots__ = ("_calls", "_phase", "_waits")

    def __init__(self, phase: JudgesPhase, calls: int = 0, waits: int = 0) -> None:
        self._phase = phase
        self._calls = calls
        self._waits = waits

    async def __aenter__(self) -> None:
        self._phase.add(self._calls, self._waits)
        if self._phase.is_due:
            await self._phase.report()

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._phase.add(-self._calls, -self._waits)
        if error is None and self._phase.is_due:
            await self._phase.report()
