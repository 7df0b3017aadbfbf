"""The limits that a worker shares with the others of its run."""

from __future__ import annotations

from steelyard.engine.limiter import Limiter
from steelyard.engine.sharing.messages import CallsHeld, LimitWarning, News, Say
from steelyard.engine.sharing.shared_circuit import SharedCircuit
from steelyard.ports import Clock, Warn

_SAME_S = 0.05
"""Refusals of calls that were in flight together ask for about the same."""


class SharedLimiter(Limiter):
    """The share that one worker has of the limits of a target."""

    def __init__(
        self,
        clock: Clock,
        target: str,
        most: int,
        paces: tuple[float | None, float | None],
        *,
        say: Say,
        warn: Warn,
    ) -> None:
        self._target = target
        self._say = say
        self._warn = warn
        self._shared = SharedCircuit(clock, target, say, self.begin_again)
        super().__init__(clock, most, *paces, circuit=self._shared)

    def hear(self, news: News) -> None:
        """What the process that holds the run tells."""
        if isinstance(news, CallsHeld):
            self.hold(news.seconds)
        elif isinstance(news, LimitWarning):
            self._warn(news.message)
        else:
            self._shared.hear(news)

    def asked_to_wait(self, seconds: float) -> None:
        """The endpoint wants no call for so long, from any worker."""
        if seconds > self.held_s + _SAME_S:
            self._say(CallsHeld(self._target, seconds))
        super().asked_to_wait(seconds)
