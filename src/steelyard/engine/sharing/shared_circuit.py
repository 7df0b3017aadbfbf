"""The circuit of a run, as one of its workers sees it."""

from __future__ import annotations

import asyncio
from itertools import count

from steelyard.engine.circuit import FOR_GOOD, Place
from steelyard.engine.sharing.messages import (
    AnswerAwaited,
    CallAdmitted,
    CallDecided,
    CallFailed,
    ProbeDeclined,
    Say,
    TargetAnswered,
    TargetAway,
    TargetJoined,
    WantsIn,
)
from steelyard.errors import TargetError, TargetStoppedError
from steelyard.ports import Clock


class SharedCircuit:
    """Asks the process that holds the run about every failure that may be the endpoint's."""

    def __init__(self, clock: Clock, target: str, say: Say) -> None:
        self._clock = clock
        self._target = target
        self._say = say
        self._is_open = False
        self._has_answered = False
        self._is_watched = True
        """Whether the next answer is told."""
        self._probed_at: float | None = None
        self._stopped = ""
        self._numbers = count()
        self._decisions: dict[int, asyncio.Future[CallDecided]] = {}
        self._admitted: asyncio.Future[CallAdmitted] | None = None
        say(TargetJoined(target))

    @property
    def is_open(self) -> bool:
        """Whether the target is away."""
        return self._is_open

    async def admit(self) -> None:
        """Wait until a call may be made: as a probe, or because the target is back."""
        while self._is_open:
            self._require_going_on()
            self._admitted = asyncio.get_running_loop().create_future()
            self._say(WantsIn(self._target))
            try:
                admitted = await self._admitted
            finally:
                self._admitted = None
            if admitted.stopped:
                self._stopped = admitted.stopped
            elif admitted.is_probe:
                self._probed_at = self._clock.monotonic()
                return

    def answered(self) -> bool:
        """The target is there; the process that holds the run tells when it was away."""
        self._has_answered = True
        self._probed_at = None
        if self._is_watched or self._is_open:
            self._is_watched = False
            self._say(TargetAnswered(self._target))
        return False

    async def failure(
        self, error: TargetError, started: float, place: Place, *, is_last: bool = False
    ) -> bool:
        """A call that began then has failed; whether it is made again, as if it had not been."""
        is_probe = self._probed_at is not None and started >= self._probed_at
        is_for_good = error.code in FOR_GOOD and not self._has_answered
        if not (error.away or is_probe or is_for_good):
            if error.http_status is not None:
                self.answered()
            return False
        self._require_going_on()
        if is_probe:
            self._probed_at = None
        decided = await self._decision(error, place, is_probe=is_probe, is_last=is_last)
        self._stopped = self._stopped or decided.stopped
        self._require_going_on()
        return decided.is_again

    def hear(self, news: TargetAway | AnswerAwaited | CallDecided | CallAdmitted) -> None:
        """What the process that holds the run tells."""
        if isinstance(news, CallDecided):
            decision = self._decisions.pop(news.number, None)
            if decision and not decision.done():
                decision.set_result(news)
        elif isinstance(news, CallAdmitted):
            if self._admitted and not self._admitted.done():
                self._admitted.set_result(news)
            elif news.is_probe:
                self._say(ProbeDeclined(self._target))
        elif isinstance(news, AnswerAwaited):
            self._is_watched = True
        else:
            self._is_open = news.is_open

    async def _decision(
        self, error: TargetError, place: Place, *, is_probe: bool, is_last: bool
    ) -> CallDecided:
        number = next(self._numbers)
        decision: asyncio.Future[CallDecided] = asyncio.get_running_loop().create_future()
        self._decisions[number] = decision
        # An answer that comes meanwhile is later than this failure.
        self._is_watched = True
        self._say(
            CallFailed(
                target=self._target,
                number=number,
                code=error.code,
                message=str(error),
                http_status=error.http_status,
                away=error.away,
                place=place,
                is_probe=is_probe,
                is_last=is_last,
            )
        )
        return await decision

    def _require_going_on(self) -> None:
        if self._stopped:
            raise TargetStoppedError(self._stopped)
