"""How far a run has come, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.engine.activity import CallActivity
    from steelyard.model.run import Result

_LONG_S = 10.0
"""Without a result for so long, a reader wants to know what a run waits for."""
_RATE_FROM = 5
"""So many results say how fast a run is."""


class ProgressCounts:
    """The results of a run so far."""

    def __init__(self, total: int | None, now: float) -> None:
        self.total = total
        self.done = 0
        self.kept = 0
        """How many of these a run that is resumed had before."""
        self.passed: int | None = None
        """None where nobody counts them."""
        self.failed = 0
        self.cost_usd: float | None = None
        """None where no result has a cost."""
        self._began = now
        self._last = now

    def keep(self, kept: int, now: float) -> None:
        """Begin with the results that a resumed run has already."""
        self.done = self.kept = kept
        self._began = self._last = now

    def note(self, result: Result, now: float) -> None:
        """Count a result."""
        self.done += 1
        self._last = now
        self.passed = self.passed or 0
        if result.status == "evaluated":
            self.passed += bool(result.verdict and result.verdict.passed)
        else:
            self.failed += 1
        if result.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + result.cost_usd

    def reach(self, done: int, failed: int, total: int | None, now: float) -> None:
        """Take what a server says of a run."""
        if done != self.done:
            self._last = now
        self.done, self.failed = done, failed
        self.total = self.total if total is None else total

    def rate(self, now: float) -> float | None:
        """Results a second; None where there are too few to say."""
        made, elapsed = self.done - self.kept, now - self._began
        return made / elapsed if made >= _RATE_FROM and elapsed > 0 else None

    def quiet_s(self, now: float) -> float:
        """How long there was no result."""
        return now - self._last


def state_lines(state: ProgressCounts, calls: CallActivity | None, now: float) -> Iterator[str]:
    """Results, speed, cost, and what is being waited for."""
    made = state.done - state.kept
    if state.kept:
        yield f"{state.kept} kept"
    if not made:
        yield "no new result yet" if state.kept else "no result yet"
    elif state.passed is not None:
        yield f"{state.passed} passed"
    if state.failed:
        yield f"{state.failed} without a score"
    elif made and state.passed is None:
        yield "all with a score"
    rate = state.rate(now)
    if rate:
        yield f"{rate:.1f}/s"
        if state.total is not None and state.total > state.done:
            yield f"{_duration((state.total - state.done) / rate)} left"
    if state.cost_usd is not None:
        yield f"${state.cost_usd:.2f}" if state.cost_usd >= 0.01 else f"${state.cost_usd:.4f}"
    if calls:
        yield from _waiting(calls, state.quiet_s(now))


def _waiting(calls: CallActivity, quiet_s: float) -> Iterator[str]:
    for name in calls.away:
        yield f"{name} is away, waiting for it"
    if calls.held_s:
        yield f"the endpoint asks to wait {_duration(calls.held_s)}"
    if calls.retrying:
        reasons = ", ".join(f"{count} {error}" for error, count in calls.retrying.most_common(3))
        following = (
            "" if calls.next_retry_s is None else f", next in {_duration(calls.next_retry_s)}"
        )
        yield f"{calls.retrying.total()} to retry ({reasons}{following})"
    if calls.in_flight:
        is_long = quiet_s >= _LONG_S and calls.oldest_s is not None
        oldest = f", the longest for {_duration(calls.oldest_s or 0)}" if is_long else ""
        yield f"{calls.in_flight} in flight{oldest}"
    elif quiet_s >= _LONG_S and not calls.retrying and not calls.away:
        yield f"no call in flight, no result for {_duration(quiet_s)}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if minutes < 10 and rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
