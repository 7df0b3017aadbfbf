"""How many calls at once a target gets: as many as it bears, no more than it allows."""

from __future__ import annotations

START = 16


class CallAllowance:
    """Starts modest and grows by one with every answer.

    The first refusal halves it, and from then on it grows by one only when all calls that fit have
    been answered.
    """

    __slots__ = ("_is_slow", "_limit", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = float(min(START, most))
        self._is_slow = False

    @property
    def at_once(self) -> int:
        """Calls at once that are allowed just now."""
        return max(1, int(self._limit))

    @property
    def is_growing(self) -> bool:
        """Whether answers make it larger."""
        return self._limit < self._most

    def grow(self, answers: int = 1) -> None:
        """So many calls were answered."""
        for _ in range(answers):
            if self._limit >= self._most:
                return
            more = 1 / self._limit if self._is_slow else 1
            self._limit = min(self._most, self._limit + more)

    def cut(self, in_flight: float) -> None:
        """There were too many calls, so many of them in flight."""
        self._is_slow = True
        self._limit = max(1.0, min(self._limit, in_flight) / 2)

    def begin_again(self) -> None:
        """A target that was away is back: it gets few calls at first."""
        self._limit = min(self._limit, START)
