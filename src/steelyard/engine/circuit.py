"""Whether a target can be reached: while it is away, all calls wait and one at a time probes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeAlias

from steelyard.errors import TargetError, TargetStoppedError
from steelyard.ports import Clock, Warn, log_warning
from steelyard.settings import OUTAGE_S

Place: TypeAlias = tuple[int, int]
RECORDS_TO_OPEN = 5
"""So many records in a row that are answered with 503 or the like speak of the endpoint."""
FOR_GOOD = frozenset(
    ("unauthorized", "forbidden", "not_found", "tls_error", "unknown_host", "forbidden_address")
)
CALLS_TO_STOP = 10
_FIRST_PROBE_S = 1.0
_LAST_PROBE_S = 15.0
_LOOK_S = 1.0


class CircuitPort(Protocol):
    """What stands between a call and a target that may be away."""

    @property
    def is_open(self) -> bool: ...
    async def admit(self) -> None: ...
    def answered(self) -> bool: ...
    async def failure(
        self, error: TargetError, started: float, place: Place, *, is_last: bool = False
    ) -> bool: ...


class Circuit:
    """Open while a target that has answered before is away; nobody's attempts are used meanwhile.

    A connection that is refused says nothing about a record and opens it at once. An answer such
    as 503 may be one record's fault; it takes several records in a row, or one that nobody was
    answered since and that would be given up. A record that fails before and after others are
    answered says nothing about the target. A target that has never answered is not waited for;
    one that fails for good from its first call on is stopped.

    A run has one for each target, in the process that holds it; its workers ask it.
    """

    def __init__(
        self,
        clock: Clock,
        name: str = "",
        outage_s: float = OUTAGE_S,
        *,
        has_answered: Callable[[], bool] = lambda: False,
        warn: Warn = log_warning,
    ) -> None:
        """`has_answered` says whether the target has answered before, in an earlier process."""
        self._warn = warn
        self._clock = clock
        self._name = name
        self._outage_s = outage_s
        self._look = has_answered
        self._look_due = 0.0
        self._has_answered = False
        self._answers = 0
        self._failing: set[Place] = set()
        self._since: dict[Place, int] = {}
        """How many answers there were when a record failed first."""
        self._failed_for_good = 0
        self._opened_at: float | None = None
        self._probed_at: float | None = None
        self._probe_due = 0.0
        self._pause_s = _FIRST_PROBE_S
        self._changed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether the target is away."""
        return self._opened_at is not None

    async def admit(self) -> None:
        """Wait until a call may be made: as a probe, or because the target is back."""
        while self.is_open:
            wait = self._probe_due - self._clock.monotonic()
            if self._probed_at is not None:
                await self._changed.wait()
            elif wait > 0:
                await self._clock.sleep(wait)
            else:
                self._probed_at = self._clock.monotonic()
                return

    def answered(self) -> bool:
        """The target is there; whether it was away before."""
        self._has_answered = True
        self._answers += 1
        self._failing.clear()
        if self._opened_at is None:
            return False
        away_s = self._clock.monotonic() - self._opened_at
        self._warn(f"the target {self._called}answers again after {away_s:.0f} s")
        self._opened_at = None
        self._pause_s = _FIRST_PROBE_S
        self._settle_probe()
        return True

    async def failure(
        self, error: TargetError, started: float, place: Place, *, is_last: bool = False
    ) -> bool:
        """The same as `failed`, where the answer may come from another process."""
        return self.failed(error, started, place, is_last=is_last)

    def failed(
        self, error: TargetError, started: float, place: Place, *, is_last: bool = False
    ) -> bool:
        """A call that began then has failed; whether it is made again, as if it had not been.

        After the last attempt of a record it would be given up.
        """
        is_probe = self._probed_at is not None and started >= self._probed_at
        if not error.away and not (is_probe and error.code == "timeout"):
            self._heard(error, is_probe=is_probe)
            return False
        if not self._is_known():
            return False
        if not self.is_open:
            if not self._is_outage(error, place, is_last=is_last):
                return False
            self._open(error)
        elif is_probe:
            self._pause_s = min(2 * self._pause_s, _LAST_PROBE_S)
            self._probe_due = self._clock.monotonic() + self._pause_s
            self._settle_probe()
        self._require_patience(error)
        return True

    def decline(self) -> None:
        """Whoever was to probe makes no call."""
        self._settle_probe()

    def _is_outage(self, error: TargetError, place: Place, *, is_last: bool) -> bool:
        """Whether a failure speaks of the endpoint, and not of the record alone."""
        if error.away == "unreachable":
            return True
        if self._since.setdefault(place, self._answers) < self._answers:
            return False
        self._failing.add(place)
        # Where few are left, the last try of one counts as well.
        return is_last or len(self._failing) >= RECORDS_TO_OPEN

    def _is_known(self) -> bool:
        """Whether the target has answered in this run; looked up now and then until it has."""
        now = self._clock.monotonic()
        if not self._has_answered and now >= self._look_due:
            self._look_due = now + _LOOK_S
            self._has_answered = self._look()
        return self._has_answered

    def _heard(self, error: TargetError, *, is_probe: bool) -> None:
        """A failure that is not for want of the target; an answer with a status is one."""
        self._answers += error.http_status is not None
        if error.http_status is not None and self.is_open:
            self.answered()
        elif is_probe:
            self._settle_probe()
        if error.code in FOR_GOOD and not self._is_known():
            self._failed_for_good += 1
            if self._failed_for_good >= CALLS_TO_STOP:
                raise TargetStoppedError(
                    f"the target {self._called}was stopped: its first {CALLS_TO_STOP} calls all "
                    f"failed for good, the last with {error.code}: {error}"
                )

    def _open(self, error: TargetError) -> None:
        now = self._clock.monotonic()
        self._opened_at, self._probe_due = now, now + self._pause_s
        self._warn(f"the target {self._called}is away: {error}; waiting for it")

    def _require_patience(self, error: TargetError) -> None:
        away_s = self._clock.monotonic() - (self._opened_at or 0.0)
        if away_s >= self._outage_s:
            raise TargetStoppedError(
                f"the target {self._called}was stopped: it has been away for {away_s:.0f} s "
                f"(limits.outage_s), lastly with {error.code}: {error}"
            )

    def _settle_probe(self) -> None:
        # Whoever waits holds the old event, so that nobody can clear it before he has looked.
        self._probed_at = None
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def _called(self) -> str:
        return f"'{self._name}' " if self._name else ""
