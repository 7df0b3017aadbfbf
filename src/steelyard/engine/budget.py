"""What ends a run before its last record: money, time, or somebody's word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why no further call is made."""

    label: str
    message: str
    is_urgent: bool = False
    """Whether calls that are being made are broken off."""


CANCEL = Stop(label="cancelled", message="the run was cancelled", is_urgent=True)


def deadline_stop(deadline_s: float) -> Stop:
    """The run has taken too long."""
    message = f"the deadline of {deadline_s:g} s (limits.deadline_s) was over"
    return Stop(label="deadline", message=message)


class Budget:
    """The money of a run, which calls that are being made have not spent yet, but will."""

    def __init__(
        self, limit_usd: float | None = None, spent_usd: float = 0.0, parts: int = 1
    ) -> None:
        self._limit = limit_usd
        self._parts = parts
        """Of a budget that so many processes share, the limit is an equal part."""
        self._spent = spent_usd
        self._paid = 0
        self._paid_usd = 0.0
        self._stopped: Stop | None = None
        self._callbacks: list[Callable[[Stop], None]] = []

    def on_stop(self, callback: Callable[[Stop], None]) -> None:
        """Call back once when the budget is used up."""
        self._callbacks.append(callback)

    def spend(self, cost_usd: float) -> None:
        """A call was paid for."""
        self._spent += cost_usd
        self._paid_usd += cost_usd
        self._paid += 1

    def stop(self, in_flight: int) -> Stop | None:
        """Whether one more call, among so many in flight, would probably cost too much."""
        if self._limit is None or self._stopped:
            return self._stopped
        each = self._paid_usd / self._paid if self._paid else 0.0
        if self._spent + each * in_flight > self._limit or self._spent >= self._limit:
            self._stopped = Stop(label="budget", message=self._message(self._limit))
            for callback in self._callbacks:
                callback(self._stopped)
        return self._stopped

    def _message(self, limit: float) -> str:
        whole = f"the budget of ${limit * self._parts:g} (limits.budget_usd)"
        if self._parts == 1:
            return f"{whole} was used up: ${self._spent:.4f} spent"
        part = f"the part of one of {self._parts} processes in {whole}"
        return f"{part} was used up: ${self._spent:.4f} of ${limit:g} spent"
