"""What ends a run before its last record: money, time, or somebody's word."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.model.frozen_struct import FrozenStruct


class Stop(FrozenStruct, frozen=True, kw_only=True):
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
        self,
        limit_usd: float | None = None,
        spent_usd: float = 0.0,
        *,
        more: Callable[[float], float] | None = None,
        named: str = "limits.budget_usd",
    ) -> None:
        """`named` is what its limit is called where it was given."""
        self._whole = limit_usd
        self._named = named
        self._limit = 0.0 if more and limit_usd is not None else limit_usd
        self._more = more
        """Of a budget that processes share, grants what this one lacks, or as much as is left."""
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
        if self._is_short(self._limit, each * in_flight) and self._more:
            self._limit += self._more(self._spent + each * (in_flight + 1) - self._limit)
        if self._is_short(self._limit, each * in_flight):
            self._stopped = Stop(label="budget", message=self._message())
            for callback in self._callbacks:
                callback(self._stopped)
        return self._stopped

    def _is_short(self, limit: float, coming: float) -> bool:
        return self._spent + coming > limit or self._spent >= limit

    def _message(self) -> str:
        by_one = " by one of several processes" if self._more else ""
        whole = f"the budget of ${self._whole:g} ({self._named})"
        return f"{whole} was used up: ${self._spent:.4f} spent{by_one}"
