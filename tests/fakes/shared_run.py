"""The workers of a run and the process that holds it, with messages that take their time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from fakes.clock import ManualClock
from steelyard.engine.circuit import Circuit
from steelyard.engine.sharing.messages import News, Said
from steelyard.engine.sharing.run_limits import RunLimits, TargetSizes
from steelyard.engine.sharing.shared_limits import SharedLimiter
from steelyard.ports import Warn

TARGET = "live"


class SharedRun:
    """Several workers that share the limits of one target."""

    def __init__(
        self,
        count: int,
        *,
        most: int = 16,
        paces: tuple[float | None, float | None] = (None, None),
        late_s: Callable[[], float] = lambda: 0.001,
        clock: ManualClock | None = None,
        **circuit: Any,
    ) -> None:
        self.clock = clock or ManualClock()
        self.warned: list[str] = []
        self.told = 0
        """How many messages there were, either way."""
        self._late_s = late_s
        self._circuit = circuit
        self._free_at: dict[tuple[str, int], float] = {}
        self._sending = set[asyncio.Task[None]]()
        self._lives = [0] * count
        self.most = most
        self._is_paced = any(paces)
        sizes = {TARGET: TargetSizes(most, count, *paces)}
        self.limits = RunLimits(self.clock, self._new_circuit, sizes, self._tell)
        self.workers = [self._worker(number) for number in range(count)]

    def kill(self, number: int) -> SharedLimiter:
        """A worker dies with all that it has not told yet; its successor."""
        self.end(number)
        self.workers[number] = self._worker(number)
        return self.workers[number]

    def end(self, number: int) -> None:
        """A worker is through."""
        self._lives[number] += 1
        self.workers[number].close()
        self.limits.gone(number)

    def _worker(self, number: int) -> SharedLimiter:
        say = partial(self._say, number, self._lives[number])
        width = max(1, self.most // len(self._lives))
        return SharedLimiter(
            self.clock,
            TARGET,
            width,
            is_paced=self._is_paced,
            say=say,
            warn=self.warned.append,
        )

    def close(self) -> None:
        """All workers are through."""
        for number in range(len(self.workers)):
            self.end(number)
        self.limits.close()

    def _new_circuit(self, target: str, warn: Warn) -> Circuit:
        return Circuit(self.clock, target, warn=warn, **self._circuit)

    def _say(self, number: int, life: int, said: Said) -> None:
        def arrive() -> None:
            if self._lives[number] == life:
                self.limits.hear(number, said)

        self._send(("up", number), arrive)

    def _tell(self, number: int, news: News) -> None:
        life = self._lives[number]

        def arrive() -> None:
            if self._lives[number] == life:
                self.workers[number].hear(news)

        self._send(("down", number), arrive)

    def _send(self, way: tuple[str, int], arrive: Callable[[], None]) -> None:
        """Let a message arrive later, but never before one that was sent earlier."""
        self.told += 1
        due = max(self._free_at.get(way, 0.0), self.clock.elapsed + self._late_s())
        self._free_at[way] = due + 1e-9

        async def deliver() -> None:
            await self.clock.sleep(due - self.clock.elapsed)
            arrive()

        task = asyncio.ensure_future(deliver())
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
