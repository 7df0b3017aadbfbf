"""The signal that a server begins to stop, for answers that would go on without end."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress


class StopSignal:
    """Set once, from any thread; event streams wait for it beside their own events."""

    def __init__(self) -> None:
        self._is_set = threading.Event()
        self._waiting: set[asyncio.Future[None]] = set()

    def set(self) -> None:
        """Wake all that wait; called in the event loop of the server."""
        self._is_set.set()
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def is_set(self) -> bool:
        """Whether the server stops."""
        return self._is_set.is_set()

    async def wait(self, timeout_s: float) -> bool:
        """Wait until the server stops, or for so long; whether it stops."""
        if not self._is_set.is_set():
            future = asyncio.get_running_loop().create_future()
            self._waiting.add(future)
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(future, timeout_s)
            finally:
                self._waiting.discard(future)
        return self._is_set.is_set()
