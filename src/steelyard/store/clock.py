"""The machine's clocks."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Real time."""

    _second = (0, "1970-01-01T00:00:00")
    """The last second that was written, and how."""

    def now(self) -> datetime:
        """The wall clock, in UTC."""
        return datetime.fromtimestamp(time.time(), UTC)

    def stamp(self) -> str:
        """The wall clock as it is written down: UTC, to the millisecond."""
        now, thousandths = divmod(time.time_ns() // 1_000_000, 1000)
        second, text = self._second
        if second != now:
            # Once a second and not once a record: a date takes ten times as long as its end.
            text = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._second = now, text
        return f"{text}.{thousandths:03d}+00:00"

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait without blocking."""
        await asyncio.sleep(seconds)
