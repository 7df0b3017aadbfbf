"""The limits of a run in the process that holds it: what its workers share, they share here."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from steelyard.engine.circuit import Circuit
from steelyard.engine.sharing.call_shares import CallShares, Tell
from steelyard.engine.sharing.messages import (
    AnswerAwaited,
    CallAdmitted,
    CallDecided,
    CallFailed,
    CallsHeld,
    LimitWarning,
    News,
    PaceAsked,
    ProbeDeclined,
    Said,
    TargetAnswered,
    TargetAway,
    TargetJoined,
    WantsIn,
)
from steelyard.engine.sharing.pace_grants import PaceGrants
from steelyard.errors import TargetError, TargetStoppedError
from steelyard.ports import Clock, Warn

NewCircuit: TypeAlias = Callable[[str, Warn], Circuit]


class TargetSizes(NamedTuple):
    """What a run may ask of a target."""

    calls: int
    """At once."""
    workers: int
    """Those that begin."""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class RunLimits:
    """The shared limits of each target that a worker calls, by name."""

    def __init__(
        self,
        clock: Clock,
        new_circuit: NewCircuit,
        sizes: Mapping[str, TargetSizes],
        tell: Tell,
    ) -> None:
        self._clock = clock
        self._sizes = sizes
        self._new_circuit = new_circuit
        self._tell = tell
        self._known: dict[str, _TargetLimits] = {}

    def hear(self, worker: int, said: Said) -> None:
        """A worker tells of what it has seen."""
        known = self._known.get(said.target)
        if known is None:
            sizes = self._sizes[said.target]
            known = _TargetLimits(said.target, self._clock, self._new_circuit, sizes, self._tell)
            self._known[said.target] = known
        known.hear(worker, said)

    def gone(self, worker: int) -> None:
        """A worker has ended, or died; what it had is free for the others."""
        for known in self._known.values():
            known.gone(worker)

    def is_away(self, target: str) -> bool:
        """Whether a target is away."""
        return target in self._known and self._known[target].is_away

    def close(self) -> None:
        """No worker is left."""
        for known in self._known.values():
            known.close()


class _TargetLimits:
    """The limits of one target."""

    def __init__(
        self, name: str, clock: Clock, new_circuit: NewCircuit, sizes: TargetSizes, tell: Tell
    ) -> None:
        self._name = name
        self._shares = CallShares(name, clock, (sizes.calls, sizes.workers), tell)
        self._pace = PaceGrants(
            name, clock, (sizes.requests_per_minute, sizes.tokens_per_minute), tell
        )
        self._clock = clock
        self._tell = tell
        self._circuit = new_circuit(name, self._warn)
        self._workers: list[int] = []
        self._speaker = 0
        """Who is being listened to."""
        self._is_watched = False
        self._was_open = False
        self._stopped = ""
        self._prober: int | None = None
        self._waiting: dict[int, asyncio.Task[None]] = {}
        """Workers that wait for the target to be back, or for their turn to probe."""
        self._held_until = 0.0

    @property
    def is_away(self) -> bool:
        return self._circuit.is_open

    def hear(self, worker: int, said: Said) -> None:
        self._speaker = worker
        if isinstance(said, TargetJoined):
            self._join(worker)
        elif isinstance(said, TargetAnswered):
            self._is_watched = False
            self._prober = None
            if self._circuit.answered():
                self._shares.begin_again()
        elif isinstance(said, CallFailed):
            self._failed(worker, said)
        elif isinstance(said, WantsIn):
            self._waiting[worker] = asyncio.ensure_future(self._admit(worker))
        elif isinstance(said, ProbeDeclined):
            self._decline(worker)
        elif isinstance(said, CallsHeld):
            self._hold(worker, said)
        elif isinstance(said, PaceAsked):
            self._pace.hear(worker, said)
        else:
            self._shares.hear(worker, said)
        self._tell_if_away()

    def gone(self, worker: int) -> None:
        if worker in self._workers:
            self._workers.remove(worker)
        waiting = self._waiting.pop(worker, None)
        if waiting:
            waiting.cancel()
        self._decline(worker)
        self._shares.gone(worker)
        self._pace.gone(worker)

    def close(self) -> None:
        self._shares.close()
        self._pace.close()
        for waiting in self._waiting.values():
            waiting.cancel()

    def _join(self, worker: int) -> None:
        if worker not in self._workers:
            self._workers.append(worker)
        if self._circuit.is_open:
            self._tell(worker, TargetAway(self._name, is_open=True))
        held_s = self._held_until - self._clock.monotonic()
        if held_s > 0:
            self._tell(worker, CallsHeld(self._name, held_s))

    def _failed(self, worker: int, said: CallFailed) -> None:
        error = TargetError(said.code, said.message, http_status=said.http_status, away=said.away)
        is_again = False
        if said.is_probe and self._prober == worker:
            self._prober = None
        try:
            is_again = self._circuit.failed(
                error,
                math.inf if said.is_probe else -math.inf,
                said.place,
                is_last=said.is_last,
            )
        except TargetStoppedError as stopped:
            self._stopped = str(stopped)
        if said.away == "unavailable" and not self._is_watched:
            self._is_watched = True
            self._tell_all(AnswerAwaited(self._name))
        self._tell_if_away()
        self._tell(worker, CallDecided(self._name, said.number, is_again, self._stopped))
        if self._stopped:
            self._let_go()

    async def _admit(self, worker: int) -> None:
        await self._circuit.admit()
        self._waiting.pop(worker, None)
        is_probe = self._circuit.is_open
        if is_probe:
            self._prober = worker
        self._tell(worker, CallAdmitted(self._name, is_probe, self._stopped))

    def _let_go(self) -> None:
        """Tell those who wait that the target is stopped."""
        waiting, self._waiting = self._waiting, {}
        for worker, task in waiting.items():
            task.cancel()
            self._tell(worker, CallAdmitted(self._name, is_probe=False, stopped=self._stopped))

    def _decline(self, worker: int) -> None:
        if self._prober == worker:
            self._prober = None
            self._circuit.decline()

    def _hold(self, worker: int, said: CallsHeld) -> None:
        self._held_until = max(self._held_until, self._clock.monotonic() + said.seconds)
        for other in self._workers:
            if other != worker:
                self._tell(other, said)

    def _tell_if_away(self) -> None:
        if self._circuit.is_open != self._was_open:
            self._was_open = self._circuit.is_open
            self._tell_all(TargetAway(self._name, self._was_open))

    def _tell_all(self, news: News) -> None:
        for worker in self._workers:
            self._tell(worker, news)

    def _warn(self, message: str) -> None:
        self._tell(self._speaker, LimitWarning(self._name, message))
