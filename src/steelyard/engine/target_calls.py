"""The calls of one loop to its target: a stop breaks them off, an outage has them made again."""

from __future__ import annotations

import asyncio
from typing import NamedTuple, cast

from steelyard.engine.attempts import (
    attempt_of,
    interruption,
    is_adapted,
    lost,
    outage,
    probe_answered,
)
from steelyard.engine.breakable import BrokenOff, Waiting
from steelyard.engine.budget import Stop
from steelyard.engine.circuit import FOR_GOOD
from steelyard.engine.claims import unawaited
from steelyard.engine.costs import cost_of
from steelyard.engine.record_work import AskedTarget, EngineContext, Work
from steelyard.engine.retries import LOST_S
from steelyard.errors import ConnectionLostError, TargetError, TargetStoppedError
from steelyard.model.trace import Trace
from steelyard.ports import Request, Target

TIMED = (None, "sampled")
"""Where responses come from that say something of an endpoint of today."""


class Called(NamedTuple):
    """What came of a call, when it was made and how many milliseconds it took."""

    answer: Trace | TargetError
    at: str
    elapsed: float


class TargetCalls:
    """Makes the calls."""

    def __init__(self, asked: AskedTarget, around: EngineContext, waiting: Waiting) -> None:
        self._asked = asked
        self._around = around
        self._waiting = waiting
        self._known: tuple[Work, Request] | None = None
        """What the target has answered last."""
        self._begun: dict[asyncio.Task[None], float] = {}
        """When the calls began that are under way, by who makes them."""

    @property
    def oldest_s(self) -> float | None:
        """How long the longest call has taken so far; None where none is under way."""
        if not self._begun:
            return None
        # The one that began first stands first.
        return self._around.clock.monotonic() - next(iter(self._begun.values()))

    async def make(self, work: Work, tokens: int, task: asyncio.Task[None]) -> Called | None:
        """What came of a record's call; None where no further call is made.

        A target that is away is waited for, and one that knows better by now how to ask is asked
        once more; no attempt of the record is used.
        """
        known = work.record
        request = Request(
            *(work.case, work.prompt, known.repeat, work.attempt, None),
            *(known.index, known.record_sha256),
        )
        is_new = True
        while await self._is_allowed(tokens):
            if self._asked.limiter.is_probing and self._known:
                await self._probe(*self._known, task)
                continue
            called, is_over = await self._call(work, request, task)
            if is_over and is_new and is_adapted(called.answer):
                is_new = False
                self.log(work, called.at, called.answer, called.elapsed)
            elif is_over:
                if not isinstance(called.answer, TargetError):
                    self._known = work, request
                return called
        return None

    async def _call(
        self, work: Work, request: Request, task: asyncio.Task[None]
    ) -> tuple[Called, bool]:
        """What came of a call, and whether it is over; one that is made again is logged."""
        clock = self._around.clock
        at, started = clock.stamp(), clock.monotonic()
        self._begun[task] = started
        try:
            answer = await self._answer(request, task)
        except asyncio.CancelledError:
            self.log(work, at, interruption())
            raise
        finally:
            del self._begun[task]
        self._asked.limiter.leave()
        elapsed = round((clock.monotonic() - started) * 1000, 3)
        called = Called(answer, at, elapsed)
        if not isinstance(answer, TargetError) or is_adapted(answer):
            return called, True
        if isinstance(answer, ConnectionLostError) and not self._asked.limiter.is_probing:
            self.log(work, at, lost(answer), elapsed)
            await clock.sleep(LOST_S)
            return called, False
        try:
            is_away = await self._is_away(work, answer, started)
        except asyncio.CancelledError:
            self.log(work, at, interruption())
            raise
        except TargetStoppedError:
            self.log(work, at, answer if answer.code in FOR_GOOD else outage(answer), elapsed)
            raise
        if is_away:
            self.log(work, at, outage(answer), elapsed)
        return called, not is_away

    async def _probe(self, work: Work, request: Request, task: asyncio.Task[None]) -> None:
        """See whether a target is back, by a question that it has answered before.

        A record that has no answer yet may be one that the target never answers.
        """
        (answer, at, elapsed), is_over = await self._call(work, request, task)
        if isinstance(answer, TargetError):
            if is_over:
                self.log(work, at, outage(answer), elapsed)
            return
        self._asked.limiter.answered()
        self._around.budget.spend(cost_of(answer, self._asked.price) or 0.0)
        made = attempt_of(work, at, trace=answer, error=probe_answered(answer))
        unawaited(self._around.ledger.keep(None, (made,), work.record.private))

    async def _is_away(self, work: Work, error: TargetError, started: float) -> bool:
        if work.record.response_source not in TIMED:
            return False  # a recording says nothing of an endpoint of today
        place = work.record.index, work.record.repeat
        is_last = work.attempt >= self._around.retry.max_attempts
        left_s, limiter = self._around.left_s, self._asked.limiter
        is_away = await limiter.failed(error, started, place, left_s, is_last=is_last)
        return is_away and not self._waiting.stopped

    def log(self, work: Work, at: str, error: TargetError, elapsed: float | None = None) -> None:
        """Log a call that came to nothing, for which nobody waits."""
        made = attempt_of(work, at, error=error, elapsed=elapsed)
        unawaited(self._around.ledger.keep(None, (made,), work.record.private))

    async def _is_allowed(self, tokens: int) -> bool:
        """Wait for one's turn; False where no further call is made."""
        limiter = self._asked.limiter
        try:
            if not limiter.enter_at_once():
                with self._waiting.for_turn():
                    await limiter.enter(tokens)
        except BrokenOff:
            return False
        if self._waiting.stopped or self._around.budget.stop(limiter.in_flight):
            limiter.leave()
            return False
        return True

    async def _answer(self, request: Request, task: asyncio.Task[None]) -> Trace | TargetError:
        """What a target said, or how it failed: its bug is that record's business alone."""
        try:
            with self._waiting.for_answer(task):
                return await cast(Target, self._asked.target).ask(request)
        except TargetError as error:
            return error
        except BrokenOff:
            return interruption(cast(Stop, self._waiting.stopped).message)
        except asyncio.CancelledError:
            if task.cancelling():
                raise
            return TargetError("target_error", "the target cancelled itself")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one record's failure never stops another
            return TargetError("target_error", f"{type(error).__name__}: {error}")
