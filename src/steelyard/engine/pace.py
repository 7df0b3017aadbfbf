"""How fast a target is called: so many units a minute."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

MINUTE_S = 60.0
_MAX_OWED_S = 300.0
"""The wait that one call may leave to later ones: no claim of an endpoint stops a run."""
ROUNDING_S = 1e-6
"""Adding and subtracting times leaves less than this behind."""


@dataclass(slots=True)
class TakenUnits:
    """Units that were taken."""

    at: float
    """When they were used, or until when they may be."""
    units: int


class Pace:
    """So many units a minute: evenly, and never more within any minute."""

    __slots__ = ("_most", "_next", "_sum", "_taken", "each_s")

    def __init__(self, per_minute: float | None) -> None:
        self.each_s = MINUTE_S / per_minute if per_minute else 0.0
        self._most = math.ceil(per_minute or 0)
        self._next = 0.0
        self._taken: deque[TakenUnits] = deque()
        """What was taken within the last minute."""
        self._sum = 0

    def within(self, seconds: float) -> float:
        """How many units are due in so much time."""
        return seconds / self.each_s if self.each_s else math.inf

    def due(self, units: int, now: float) -> float:
        """From when on units may be taken; more than a minute has, once it is all theirs."""
        if not self.each_s:
            return now
        while self._taken and self._taken[0].at + MINUTE_S <= now:
            old = self._taken.popleft()
            self._sum -= old.units
            old.units = 0
        begin, left = self._next, self._sum
        for taken in self._taken:
            if left + units <= self._most:
                break
            begin, left = max(begin, taken.at + MINUTE_S), left - taken.units
        return begin

    def take(self, units: int, now: float, until: float = 0.0) -> TakenUnits | None:
        """Take units, whether they were due or not; what was not is paid for by later ones.

        Those that may be used later, until then, are in the minute from then on as well.
        """
        if not (self.each_s and units):
            return None
        self._next = max(now, self._next) + self._owed_s(units)
        taken = TakenUnits(max(now, until), units)
        self._taken.append(taken)
        self._sum += units
        return taken

    def settle(self, taken: TakenUnits | None, unused: int, now: float) -> None:
        """All that was taken has been used by now, but for some units, which are free again."""
        if taken is None:
            return
        unused = min(unused, taken.units)
        taken.at = min(taken.at, now)
        taken.units -= unused
        self._sum -= unused
        self._next -= self._owed_s(unused)

    def _owed_s(self, units: int) -> float:
        return min(units * self.each_s, max(_MAX_OWED_S, self.each_s))
