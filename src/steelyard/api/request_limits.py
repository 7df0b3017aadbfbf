"""How many requests a caller may send in a minute; counted in the memory of one server."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

_WINDOW_S = 60.0
_MANY = 10_000
"""So many callers are kept before those whose minute is over are dropped."""


class Allowance(NamedTuple):
    """What is left of a caller's minute after a request."""

    limit: int
    remaining: int
    reset_s: int
    """Whole seconds until the next minute begins."""
    is_exceeded: bool

    def headers(self) -> dict[str, str]:
        """The same as headers of an answer."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-reset": str(self.reset_s),
        }


class RequestLimiter:
    """Counts requests by caller in windows of a minute, which begin at the first request.

    For use on one event loop.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._windows: dict[str, tuple[float, int]] = {}

    def count(self, subject: str, limit: int) -> Allowance:
        """Count one more request of a caller."""
        now = self._monotonic()
        began, count = self._windows.get(subject, (now, 0))
        if now - began >= _WINDOW_S:
            began, count = now, 0
        if subject not in self._windows and len(self._windows) >= _MANY:
            self._drop(now)
        self._windows[subject] = began, count + 1
        reset_s = max(1, math.ceil(began + _WINDOW_S - now))
        return Allowance(limit, max(0, limit - count - 1), reset_s, count >= limit)

    def _drop(self, now: float) -> None:
        current = {
            subject: window
            for subject, window in self._windows.items()
            if now - window[0] < _WINDOW_S
        }
        # A flood from ever new addresses must not fill the memory; it starts over instead.
        self._windows = current if len(current) < _MANY else {}
