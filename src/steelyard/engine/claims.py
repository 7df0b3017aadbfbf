"""Calls that may be under way, kept before they are made, so that a crash hides none of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from steelyard.results.attempts import Attempt

Item = TypeVar("Item")
Call: TypeAlias = tuple[int, int, int, str | None, str] | Attempt
"""Index, repeat, attempt, record and target; of a judge's call, as much as is known of it."""


class ClaimLedger(Protocol):
    """Where claims are kept."""

    def join(self, claims: Claims[Any]) -> None:
        """Have claims kept with every commit."""
        ...

    def claim(self) -> None:
        """Keep claims as soon as possible: a call waits for them."""
        ...


class Claim(NamedTuple):
    """What one commit claims."""

    calls: Mapping[str, Sequence[Call]]
    """Every call that may be under way from then on, by the time when it was claimed."""
    new: Sequence[Hashable]
    """The places of those that were not claimed before."""


class Claimed(NamedTuple, Generic[Item]):
    """How the calls of a loop are claimed."""

    name: str
    """What its claims are kept under."""
    place: Callable[[Item], Hashable]
    """The key of its calls."""
    call: Callable[[Item], Call]
    """What is logged of one should it be interrupted."""
    upcoming: Callable[[int], Sequence[Item]]
    """The calls that come next, at most so many."""


def unawaited(kept: Awaitable[None]) -> None:
    """Store something without waiting; a refusal of the store is reported elsewhere."""
    future = asyncio.ensure_future(kept)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())


class Claims(Generic[Item]):
    """The calls of one loop that are claimed and have no outcome yet: at most so many.

    Claims are kept in the commits that results need anyway. A claim covers the next calls as
    well, so that a loop seldom waits for one.
    """

    def __init__(
        self, claimed: Claimed[Item], ledger: ClaimLedger, now: Callable[[], str], limit: int = 0
    ) -> None:
        self.name = claimed.name
        self._how = claimed
        self._ledger = ledger
        self._now = now
        self._limit = limit
        self._open: dict[Hashable, tuple[str, Call]] = {}
        """Each with the time when it was claimed."""
        self._unsure: set[Hashable] = set()
        """Those of them whose claim is not committed yet."""
        self._wanted: dict[Hashable, Item] = {}
        """Those that somebody waits for."""
        self._waiting: list[asyncio.Future[None]] = []
        self._is_ended = False
        ledger.join(self)

    def begin(self, limit: int) -> None:
        """From now on so many calls may be claimed."""
        self._limit = limit

    def end(self) -> None:
        """Nothing is under way any more, and what was cut off is logged already."""
        self._is_ended = bool(self._open)
        self._limit = 0
        self._open.clear()
        self._wanted.clear()

    def covers(self, item: Item) -> bool:
        """Whether a call may be made now."""
        place = self._how.place(item)
        return place in self._open and place not in self._unsure

    async def cover(self, item: Item) -> None:
        """Wait until a call may be made."""
        place = self._how.place(item)
        while place not in self._open or place in self._unsure:
            if place not in self._open:
                self._wanted[place] = item
            committed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(committed)
            self._ledger.claim()
            await committed

    def settle(self, place: Hashable) -> None:
        """What came of a call is about to be kept."""
        self._open.pop(place, None)

    def take(self) -> Claim | None:
        """What a commit is to claim; None where nothing has changed.

        Everything that was settled so far must be a part of the same commit, or of one before.
        """
        if self._is_ended:
            self._is_ended = False
            return Claim({}, ())
        coming = self._how.upcoming(self._limit)
        wanted, self._wanted = self._wanted, {}
        if wanted:
            self._make_room(len(wanted.keys() - self._open.keys()), coming)
        new = [*self._added(wanted.values(), math.inf)]
        new += self._added(coming, self._limit)
        if not new:
            return None
        self._unsure.update(new)
        calls: dict[str, list[Call]] = {}
        for at, call in self._open.values():
            calls.setdefault(at, []).append(call)
        return Claim(calls, new)

    def _added(self, items: Iterable[Item], limit: float) -> Iterator[Hashable]:
        """Open calls for items, as far as there is room; the places of the new ones."""
        at, is_open, (_, place_of, call_of, _) = self._now(), self._open, self._how
        for item in items:
            place = place_of(item)
            if place in is_open:
                continue
            if len(is_open) >= limit:
                return
            is_open[place] = at, call_of(item)
            yield place

    def committed(self, claim: Claim, error: BaseException | None) -> None:
        """What was taken is kept, or cannot be."""
        self._unsure.difference_update(claim.new)
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one.done():
                continue
            if error:
                one.set_exception(error)
            else:
                one.set_result(None)

    def _make_room(self, count: int, coming: Sequence[Item]) -> None:
        """Let go of claims of calls whose turn comes later: a retry goes before them."""
        for item in reversed(coming):
            if len(self._open) + count <= self._limit:
                return
            self.settle(self._how.place(item))
