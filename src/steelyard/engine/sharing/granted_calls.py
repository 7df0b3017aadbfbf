"""The calls of a target with a pace that a worker may begin, as the run grants them."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from steelyard.engine.pace import ROUNDING_S
from steelyard.engine.sharing.messages import PaceAsked, PaceGranted, Say
from steelyard.ports import Clock

_TELL_S = 1.0
_AT_HAND = 2
"""Grants at a time: the one in use, and the next."""


@dataclass(slots=True)
class _Grant:
    number: int
    begin: float
    spread_s: float
    until: float
    calls: int
    tokens: int
    used_calls: int = 0
    used_tokens: int = 0

    @property
    def due(self) -> float:
        """When its next call may begin."""
        used = max(self.used_calls / self.calls, self.used_tokens / max(1, self.tokens))
        return self.begin + self.spread_s * used

    @property
    def left(self) -> int:
        return self.calls - self.used_calls

    def has(self, tokens: int, now: float) -> bool:
        """Whether it has a call of so many tokens that begins in time."""
        is_enough = self.left > 0 and tokens <= self.tokens - self.used_tokens
        return is_enough and max(now, self.due) <= self.until


class GrantedCalls:
    """Asks the process that holds the run for the calls of the next second, and keeps to them."""

    def __init__(self, clock: Clock, target: str, say: Say) -> None:
        self._clock = clock
        self._target = target
        self._say = say
        self._grants: deque[_Grant] = deque()
        self._over: list[_Grant] = []
        """Those that are used up or void, and that was not told yet."""
        self._owed = 0
        self._waiting: deque[int] = deque()
        """The tokens of the calls that wait, in the order of their turns."""
        self._begun = 0
        """Calls since the last question."""
        self._late_s = 0.0
        self._asked_at = -math.inf
        self._is_asking = False
        self._granted = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None

    @contextmanager
    def wanted(self, tokens: int) -> Generator[None]:
        """As long as a call waits for its turn."""
        self._waiting.append(tokens)
        try:
            yield
        finally:
            self._waiting.remove(tokens)

    async def wait(self, tokens: int) -> None:
        """Wait until the first of the calls that wait may begin."""
        while (due := self._due(tokens)) is None or due > self._clock.monotonic() + ROUNDING_S:
            if due is not None:
                await self._clock.sleep(due - self._clock.monotonic())
                continue
            self._granted.clear()
            self._ask(tokens)
            await self._granted.wait()

    def take(self, tokens: int) -> None:
        """Begin the call that was waited for."""
        grant = self._grants[0]
        grant.used_calls += 1
        grant.used_tokens += tokens
        self._begun += 1

    def ask_ahead(self, tokens: int) -> None:
        """After a call of so many tokens: ask for more, before those at hand are used up."""
        if len(self._grants) < _AT_HAND:
            left = sum(one.left for one in self._grants)
            size = sum(one.calls for one in self._grants)
            # A single call is not asked for before it is there: others may have it.
            if len(self._waiting) > left or 2 * left <= size - 2:
                self._ask(self._waiting[0] if self._waiting else tokens)

    def owe(self, tokens: int) -> None:
        """An answer took more tokens than its call was granted."""
        self._owed += tokens
        self._tell_soon()

    def hear(self, news: PaceGranted) -> None:
        """More calls may begin.

        From the question on no more time has passed here than there, and from the answer on no
        less: the time of the grant is never taken for longer than it is.
        """
        now = self._clock.monotonic()
        self._is_asking = False
        self._late_s = max(0.0, now - self._asked_at - news.waited_s)
        sent_at = self._asked_at + news.waited_s
        self._grants.append(
            _Grant(
                news.number,
                now + news.begin_s,
                news.spread_s,
                sent_at + news.until_s,
                news.calls,
                news.tokens,
            )
        )
        self._granted.set()
        self._tell_soon()

    def close(self) -> None:
        """No further call comes; what is left is for the other workers."""
        if self._telling:
            self._telling.cancel()
        self._over += self._grants
        self._grants.clear()
        self._tell()

    def _due(self, tokens: int) -> float | None:
        """When a call may begin, if one may."""
        now = self._clock.monotonic()
        while self._grants:
            if self._grants[0].has(tokens, now):
                return self._grants[0].due
            self._over.append(self._grants.popleft())
        return None

    def _ask(self, first: int) -> None:
        if self._is_asking:
            return
        now = self._clock.monotonic()
        usual = math.ceil(2 * self._begun / max(1.0, now - self._asked_at))
        each = sum(self._waiting) / len(self._waiting) if self._waiting else first
        calls = max(1, len(self._waiting), usual)
        self._begun, self._asked_at, self._is_asking = 0, now, True
        self._send(calls, math.ceil(calls * each), first)

    def _tell(self) -> None:
        """Tell what is over; those who wait for it elsewhere ask no question here."""
        if self._over or self._owed:
            self._send()

    def _send(self, calls: int = 0, tokens: int = 0, first: int = 0) -> None:
        unused = tuple(
            (one.number, one.left, max(0, one.tokens - one.used_tokens)) for one in self._over
        )
        owed, self._owed = self._owed, 0
        self._over.clear()
        self._say(
            PaceAsked(
                target=self._target,
                calls=calls,
                tokens=tokens,
                first=first,
                unused=unused,
                owed=owed,
                late_s=self._late_s,
            )
        )

    def _tell_soon(self) -> None:
        if self._telling is None:
            self._telling = asyncio.ensure_future(self._tell_all())

    async def _tell_all(self) -> None:
        while self._grants or self._over or self._owed:
            await self._clock.sleep(_TELL_S)
            now = self._clock.monotonic()
            while self._grants and now > self._grants[0].until:
                self._over.append(self._grants.popleft())
            self._tell()
        self._telling = None
