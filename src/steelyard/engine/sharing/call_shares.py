"""The calls at once that a target gets from a run, shared out among its workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeAlias

from steelyard.engine.allowance import CallAllowance
from steelyard.engine.sharing.messages import (
    CallsAnswered,
    CallShare,
    CallsKept,
    CallsWanted,
    News,
    ShareNews,
)
from steelyard.ports import Clock

Tell: TypeAlias = Callable[[int, News], None]
"""Tells a worker, if it is there."""
_TURN_S = 1.0
ALL = 1 << 30
"""As many calls as a worker may make."""
_AWAITED_S = 60.0
"""A worker that has not called by then gets its share when it does."""


class CallShares:
    """Hands out what the run may call at once; all shares never add up to more.

    A worker is told at once that its share is smaller; what it gives up is handed out when it is
    free, since its calls go on until they end.
    """

    def __init__(self, target: str, clock: Clock, sizes: tuple[int, int], tell: Tell) -> None:
        """`sizes` are the most calls at once, and how many workers begin."""
        most, workers = sizes
        self._target = target
        self._clock = clock
        self._most = most
        self._tell = tell
        self._allowance = CallAllowance(most)
        self._cut = 0
        """How many times the allowance was cut."""
        self._wanted = dict.fromkeys(range(workers), ALL)
        """How many calls a worker could use; whose turn it is first stands first."""
        self._awaited = set(self._wanted)
        """Those that are expected to call soon, and for which a share is free."""
        self._share: dict[int, int] = {}
        """What a worker was told."""
        self._kept: dict[int, int] = {}
        """What it may still have."""
        self._told: dict[int, CallShare] = {}
        self._turns: asyncio.Task[None] | None = None
        self._waiting = asyncio.ensure_future(self._wait_for_others())

    def hear(self, worker: int, said: ShareNews) -> None:
        """A worker tells of its calls."""
        self._awaited.discard(worker)
        if isinstance(said, CallsWanted):
            self._wanted[worker] = said.calls
        elif isinstance(said, CallsKept):
            self._kept[worker] = max(said.calls, self._share.get(worker, 0))
        elif isinstance(said, CallsAnswered):
            self._allowance.grow(said.answers)
        elif said.cut == self._cut:
            self._cut += 1
            self._allowance.cut(self._allowance.at_once * said.used)
        self._share_out()

    def begin_again(self) -> None:
        """A target that was away is back."""
        self._allowance.begin_again()
        self._share_out()

    def gone(self, worker: int) -> None:
        """A worker has ended; nothing of it is in flight."""
        self._awaited.discard(worker)
        for known in (self._wanted, self._share, self._kept, self._told):
            known.pop(worker, None)
        self._share_out()

    def close(self) -> None:
        """No worker is left."""
        self._waiting.cancel()
        if self._turns:
            self._turns.cancel()

    def _share_out(self) -> None:
        total = self._allowance.at_once
        due = self._of_those_here(total)
        for worker, share in due.items():
            self._share[worker] = min(self._share.get(worker, 0), share)
        free = total - sum(self._kept.values())
        for worker, share in due.items():
            now, kept = self._share[worker], self._kept.get(worker, 0)
            more = min(share - now, kept - now + max(0, free))
            self._share[worker] = now + more
            self._kept[worker] = max(kept, now + more)
            free -= self._kept[worker] - kept
        for worker, width in self._of_those_here(self._most).items():
            self._say(worker, width)
        if self._is_scarce and self._turns is None:
            self._turns = asyncio.ensure_future(self._take_turns())

    def _of_those_here(self, total: int) -> dict[int, int]:
        """The shares of the workers that call; those that are awaited are left free."""
        shares = divided(total, self._wanted)
        return {one: share for one, share in shares.items() if one not in self._awaited}

    async def _wait_for_others(self) -> None:
        await self._clock.sleep(_AWAITED_S)
        for worker in self._awaited:
            del self._wanted[worker]
        self._awaited.clear()
        self._share_out()

    def _say(self, worker: int, width: int) -> None:
        news = CallShare(
            self._target, self._share[worker], width, self._cut, self._allowance.is_growing
        )
        if self._told.get(worker) != news:
            self._told[worker] = news
            self._tell(worker, news)

    @property
    def _is_scarce(self) -> bool:
        return self._allowance.at_once < sum(calls > 0 for calls in self._wanted.values())

    async def _take_turns(self) -> None:
        """Where there are fewer calls than workers, each gets one in its turn."""
        try:
            while self._is_scarce:
                await self._clock.sleep(_TURN_S)
                first = next(iter(self._wanted), None)
                if first is not None:
                    self._wanted[first] = self._wanted.pop(first)
                    self._share_out()
        finally:
            self._turns = None


def divided(total: int, wanted: Mapping[int, int]) -> dict[int, int]:
    """Equal shares of a number of calls, none larger than wanted while others want more.

    What nobody wants is divided as well, so that nobody has to ask first.
    """
    shares: dict[int, int] = dict.fromkeys(wanted, 0)
    open_: list[int] = [worker for worker, calls in wanted.items() if calls > 0]
    left = total
    while left and open_:
        each = max(1, left // len(open_))
        for worker in open_:
            more = min(each, wanted[worker] - shares[worker], left)
            shares[worker] += more
            left -= more
        open_ = [worker for worker in open_ if shares[worker] < wanted[worker]]
    for place, worker in enumerate(shares):
        shares[worker] += left // len(shares) + (place < left % len(shares))
    return shares
