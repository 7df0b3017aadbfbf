"""The part of one process of several in a run: the records it leases, its share of limits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from steelyard.engine.sharing.messages import News, Said
from steelyard.model.frozen_struct import FrozenStruct

_NOTHING = (1 << 62, 1 << 62)
_USUAL = 64
"""How many records a lease probably has that was asked for first."""
_AT_ONCE = 6
"""Leases beyond the one that is read, at most."""


class LeasedRecords:
    """The records that a process has leased, as ranges of indices in rising order.

    More are asked for before they are needed, so that no reader waits for the answer.
    """

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._asked = 0
        self._known: list[tuple[int, int]] = []
        self._is_over = False
        self._changed = threading.Condition()

    def add(self, begin: int, end: int) -> None:
        """One more lease, which was asked for; called from another thread."""
        with self._changed:
            self._known.append((begin, end))
            self._changed.notify_all()

    def end(self) -> None:
        """No further lease comes; nobody waits for one any more."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def reader(self, ahead: int) -> Callable[[int], bool]:
        """Whether a record is leased; asked about rising indices.

        At least so many records are leased before their turn comes.
        """
        place, begin, end = -1, 0, 0

        def has(index: int) -> bool:
            nonlocal place, begin, end
            while index >= end:
                place += 1
                begin, end = self._at(place, ahead)
            return index >= begin

        return has

    def _at(self, place: int, ahead: int) -> tuple[int, int]:
        with self._changed:
            while not self._is_over:
                self._ask_for(place, ahead)
                if place < len(self._known):
                    return self._known[place]
                self._changed.wait()
            return self._known[place] if place < len(self._known) else _NOTHING

    def _ask_for(self, place: int, ahead: int) -> None:
        known = self._known
        usual = known[-1][1] - known[-1][0] if known else _USUAL
        left = sum(end - begin for begin, end in known[place + 1 :])
        left += (self._asked - max(len(known), place + 1)) * usual
        while self._asked < place + 2 or (left < ahead and self._asked < place + _AT_ONCE):
            self._ask()
            self._asked += 1
            left += usual


class Coordinator(Protocol):
    """The process that holds a run, as one that works on a part of it can ask it."""

    @property
    def leases(self) -> LeasedRecords:
        """The records of this process."""
        ...

    def grant_usd(self, wanted: float) -> float:
        """More of the run's budget; 0 when nothing is left."""
        ...

    def say(self, said: Said) -> None:
        """Tell what this process has seen of the limits of a target."""
        ...

    def on_news(self, callback: Callable[[News], None]) -> None:
        """Call back, from another thread, with what is new about limits."""
        ...


class Part(FrozenStruct, frozen=True):
    """The share of one process of several."""

    number: int
    of: int
    coordinator: Coordinator | None = None
    """Who leases records and grants money to it; None for a process that has the whole run."""

    def reader(self, ahead: int) -> Callable[[int], bool] | None:
        """Whether a record belongs to it, asked about rising indices; None if all do."""
        return self.coordinator.leases.reader(ahead) if self.coordinator else None

    def holder(self, name: str) -> str:
        """The key of the claims of one of its loops."""
        return f"{self.number}/{name}"

    def concurrency(self, limit: int) -> int:
        """Its share of a number of calls; the shares add up to it."""
        each, over = divmod(limit, self.of)
        return max(1, each + (self.number < over))


WHOLE = Part(0, 1)
