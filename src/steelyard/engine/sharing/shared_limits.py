"""The limits that a worker shares with the others of its run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from steelyard.engine.limiter import Limiter
from steelyard.engine.pace import ROUNDING_S
from steelyard.engine.sharing.call_shares import ALL
from steelyard.engine.sharing.granted_calls import GrantedCalls
from steelyard.engine.sharing.messages import (
    CallRefused,
    CallsAnswered,
    CallShare,
    CallsHeld,
    CallsKept,
    CallsWanted,
    LimitWarning,
    News,
    PaceGranted,
    Say,
)
from steelyard.engine.sharing.shared_circuit import SharedCircuit
from steelyard.ports import Clock, Warn

LOOK_S = 0.25
_FEW_LOOKS = 2
_TELL_S = 0.02
_SAME_S = 0.05
"""Refusals of calls that were in flight together ask for about the same."""


class SharedLimiter(Limiter):
    """The share that one worker has of the limits of a target.

    The process that holds the run says how many calls at once it may make. A share that became
    smaller is given back as calls end, so that all shares never add up to more than the limit.
    """

    def __init__(
        self,
        clock: Clock,
        target: str,
        width: int,
        *,
        is_paced: bool,
        say: Say,
        warn: Warn,
    ) -> None:
        self._target = target
        self._say = say
        self._warn = warn
        self._shared = SharedCircuit(clock, target, say)
        super().__init__(clock, width, circuit=self._shared)
        self._granted = GrantedCalls(clock, target, say) if is_paced else None
        self._is_paced = is_paced
        self._room = 0
        self._is_growing = True
        self._width = self._most_width = width
        self._wanted = 0
        self._peak = 0
        """The most calls in flight, or about to be, since the last look."""
        self._kept = 0
        """What the process that holds the run thinks that this one still has."""
        self._cut_number = 0
        self._is_cut = False
        """Whether a refusal was told and the new share is not known."""
        self._answers = 0
        """Those that are not told yet."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._on_width: list[Callable[[int], None]] = []

    def on_width(self, callback: Callable[[int], None]) -> None:
        """Call back when more or fewer records shall be on their way."""
        self._on_width.append(callback)

    def hear(self, news: News) -> None:
        """What the process that holds the run tells."""
        if isinstance(news, CallShare):
            self._take_share(news)
        elif isinstance(news, PaceGranted):
            if self._granted:
                self._granted.hear(news)
        elif isinstance(news, CallsHeld):
            self.hold(news.seconds)
        elif isinstance(news, LimitWarning):
            self._warn(news.message)
        else:
            self._shared.hear(news)

    def close(self) -> None:
        """No further call comes."""
        for task in self._tasks:
            task.cancel()
        if self._granted:
            self._granted.close()

    def leave(self) -> None:
        """A call is over, however it ended."""
        self._peak = max(self._peak, self._in_flight + len(self._waiting))
        super().leave()
        if self._kept > self._room:
            self._give_back()

    def answered(self, expected: int = 0, used: int | None = None) -> None:
        """A call was answered; more tokens than expected are paid for by later calls of all."""
        super().answered()
        if self._granted and used is not None and used > expected:
            self._granted.owe(used - expected)

    def asked_to_wait(self, seconds: float) -> None:
        """The endpoint wants no call for so long, from any worker."""
        if seconds > self.held_s + _SAME_S:
            self._say(CallsHeld(self._target, seconds))
        super().asked_to_wait(seconds)

    def _take_share(self, news: CallShare) -> None:
        if news.cut != self._cut_number:
            self._cut_number, self._cut_at = news.cut, self._clock.monotonic()
            self._is_cut = False
        self._is_growing = news.is_growing
        self._kept = max(self._kept, news.calls)
        self._most_width = news.width
        if news.width < self._width:
            self._use_width(news.width)
        if not self._is_cut:
            self._give_room(news.calls)
        self._give_back()

    async def _turn(self) -> None:
        if self._wanted != ALL:
            self._want(ALL)
        await super()._turn()

    async def _pause(self, tokens: int) -> None:
        """One after the other, until the run grants a call and no server asks for silence."""
        if self._granted is None:
            await super()._pause(tokens)
            return
        with self._granted.wanted(tokens):
            async with self._gate:
                await self._until_granted(self._granted, tokens)
                if self._circuit.is_open:
                    await self._circuit.admit()
                    await self._until_granted(self._granted, tokens)
                self._granted.take(tokens)
        self._granted.ask_ahead(tokens)

    async def _until_granted(self, granted: GrantedCalls, tokens: int) -> None:
        await granted.wait(tokens)
        while self.held_s > ROUNDING_S:
            await self._clock.sleep(self.held_s)
            await granted.wait(tokens)

    def _grow(self) -> None:
        self._answers += 1
        if self._answers == 1:
            self._later(self._tell_answers())

    def _cut(self) -> None:
        if self._is_cut:
            return
        self._is_cut = True
        used = (self._in_flight + 1) / max(1, self._room)
        # Whoever has been refused calls no more until it knows its new share.
        self._room = 0
        self._say(CallRefused(self._target, self._cut_number, min(1.0, used)))

    def _give_back(self) -> None:
        kept = max(self._room, self._in_flight)
        if kept < self._kept and not self._is_cut:
            self._kept = kept
            self._say(CallsKept(self._target, kept))

    def _want(self, calls: int) -> None:
        if not self._wanted:
            self._later(self._look())
        self._wanted = calls
        self._say(CallsWanted(self._target, calls))

    async def _tell_answers(self) -> None:
        await self._clock.sleep(_TELL_S)
        answers, self._answers = self._answers, 0
        self._say(CallsAnswered(self._target, answers))

    async def _look(self) -> None:
        """Give calls back that are not needed, and ask for more, as long as any are wanted."""
        few = most = 0
        while self._wanted:
            await self._clock.sleep(LOOK_S)
            # At one moment few calls may be in flight where answers come at once.
            used = max(self._peak, self._in_flight + len(self._waiting))
            self._peak = 0
            is_few = 2 * used <= self._room
            few, most = (few + 1, max(most, used)) if is_few else (0, 0)
            if used and used >= min(self._room, self._width):
                if self._wanted != ALL:
                    self._want(ALL)
                self._use_width(self._most_width)
            elif few == _FEW_LOOKS:
                if most < self._wanted:
                    self._wanted = most
                    self._say(CallsWanted(self._target, most))
                few = most = 0

    def _use_width(self, width: int) -> None:
        width = max(1, width)
        if width != self._width:
            self._width = width
            for callback in self._on_width:
                callback(width)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
