"""Calls that are made in a thread for an async caller, which may stop waiting for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar

from steelyard.errors import UnavailableError


class Cancellation:
    """Whether whoever made a call still waits for it."""

    def __init__(self) -> None:
        self._is_cancelled = threading.Event()
        self._abort: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """End the call: its connection is closed, and it is not tried again."""
        with self._lock:
            self._is_cancelled.set()
            if self._abort:
                self._abort()

    def guard(self, abort: Callable[[], None]) -> None:
        """Say how to end what the call does from now on."""
        with self._lock:
            self._abort = abort
        self.require()

    def require(self) -> None:
        """Raise where the call was cancelled."""
        if self._is_cancelled.is_set():
            raise UnavailableError("the call was cancelled")

    def sleep(self, seconds: float) -> None:
        """Wait, unless the call is cancelled."""
        self._is_cancelled.wait(seconds)
        self.require()


_CURRENT: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def current_cancellation() -> Cancellation:
    """That of the call that is being made; nobody cancels one that is made without a thread."""
    return _CURRENT.get() or Cancellation()


set_cancellation = _CURRENT.set
