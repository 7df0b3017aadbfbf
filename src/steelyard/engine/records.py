"""The loop over records: ask, retry, grade, keep; one record's failure never stops another."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from steelyard.engine.grading import grade
from steelyard.engine.prompts import build_prompt
from steelyard.engine.retries import RetryPolicy
from steelyard.engine.schedule import Schedule
from steelyard.errors import TargetError
from steelyard.model.case import Case
from steelyard.model.rubric import Rubric
from steelyard.model.run import Attempt, RecordStatus, Result, RunState
from steelyard.model.trace import Trace
from steelyard.ports import Clock, Request, Target

TARGET_CALL = "target"
_TIMED = (None, "sampled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """One record in one repeat, as far as it has come."""

    result: Result
    """What is known of the result so far: place, hash, target, slices."""
    case: Case
    rubric: Rubric
    attempt: int = 1


class Ledger(Protocol):
    """Where results and attempts are kept; what is awaited is committed."""

    def keep(self, result: Result | None, attempts: Sequence[Attempt]) -> asyncio.Future[None]:
        """Keep a result with its attempts in one transaction."""
        ...

    def move(self, state: RunState) -> Awaitable[None]:
        """Keep a change of state."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the loop needs from outside."""

    targets: Mapping[str, Target]
    ledger: Ledger
    clock: Clock
    retry: RetryPolicy
    chance: random.Random
    prices: Mapping[str, tuple[float, float]]
    """US dollars per million input and output tokens, by target."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Calls at once that a target allows, where that is less than the loop makes."""
    on_result: Callable[[Result], None]
    """Told of every result once it is committed."""


class RecordLoop:
    """Evaluates a stream of records with a bounded number of calls at once."""

    def __init__(
        self,
        source: Iterator[Work | Result],
        around: Surroundings,
        state: RunState = "running",
    ) -> None:
        self._around = around
        self._schedule = Schedule[Work | Result](source, around.clock)
        self._state: RunState = "retrying" if state == "retrying" else "running"

    async def run(self, concurrency: int) -> None:
        """Work until the stream is empty; calls not yet committed stay within twice the limit."""
        self._slots = asyncio.Semaphore(2 * concurrency)
        self._limits = {
            name: asyncio.Semaphore(limit) for name, limit in self._around.limits.items()
        }
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tasks = [asyncio.ensure_future(self._worker()) for _ in range(concurrency)]
        finished = asyncio.gather(*tasks)
        try:
            await asyncio.wait([finished, self._broken], return_when=asyncio.FIRST_COMPLETED)
            if not self._broken.done():
                finished.result()
                for _ in range(2 * concurrency):
                    await self._slots.acquire()
            if self._broken.done():
                self._broken.result()
        finally:
            for task in (self._broken, finished, *tasks):
                task.cancel()
            await asyncio.gather(self._broken, finished, *tasks, return_exceptions=True)

    async def _worker(self) -> None:
        while (item := await self._schedule.take()) is not None:
            if self._schedule.is_only_retrying is not (self._state == "retrying"):
                await self._note_state()
            await self._slots.acquire()
            if self._broken.done():
                return
            if isinstance(item, Result):
                self._keep(item, ())
                self._schedule.done()
            else:
                await self._attempt(item)
            if self._schedule.is_only_retrying is not (self._state == "retrying"):
                await self._note_state()

    async def _attempt(self, work: Work) -> None:
        clock = self._around.clock
        name = work.result.target or ""
        request = Request(work.case, build_prompt(work.case), work.result.repeat, work.attempt)
        async with self._limits.get(name, nullcontext()):
            at, started = clock.now(), clock.monotonic()
            answer = await _answer(self._around.targets[name], request)
            elapsed = round((clock.monotonic() - started) * 1000, 3)
        # How long it takes to find a recording says nothing about the one who was recorded.
        measured = elapsed if work.result.response_source in _TIMED else None
        if isinstance(answer, TargetError):
            await self._failed(work, answer, at, measured)
            return
        if answer.latency_ms is None and measured is not None:
            answer = replace(answer, latency_ms=measured)
        attempt = _attempt(work, at, trace=answer)
        self._keep(self._graded(work, answer, attempt), (attempt,))
        self._schedule.done()

    async def _failed(
        self, work: Work, error: TargetError, at: datetime, elapsed: float | None
    ) -> None:
        wait = self._around.retry.wait(error, work.attempt, self._around.chance)
        attempt = _attempt(work, at, error=error, elapsed=elapsed, wait=wait)
        if wait is None:
            self._keep(_failure(work, error, attempt), (attempt,))
            self._schedule.done()
            return
        # Kept before the next attempt starts, so that a crash in between loses nothing.
        await self._around.ledger.keep(None, (attempt,))
        self._slots.release()
        first = work.result.first_attempt_at or attempt.at
        again = replace(
            work, attempt=work.attempt + 1, result=replace(work.result, first_attempt_at=first)
        )
        self._schedule.again(again, wait)

    def _graded(self, work: Work, trace: Trace, attempt: Attempt) -> Result:
        verdict = grade(work.rubric, trace, work.case)
        is_evaluated, known = verdict.status == "evaluated", work.result
        # Written out: `replace` would take twice the time, once a record.
        return Result(
            index=known.index,
            record_id=known.record_id,
            status=verdict.status,
            record_sha256=known.record_sha256,
            target=known.target,
            repeat=known.repeat,
            trace=trace,
            verdict=verdict,
            label=None if is_evaluated else verdict.status,
            message="" if is_evaluated else verdict.reason,
            attempts=work.attempt,
            first_attempt_at=known.first_attempt_at or attempt.at,
            last_attempt_at=attempt.at,
            response_source=known.response_source,
            cost_usd=self._cost(known.target or "", trace),
            slices=known.slices,
            cluster=known.cluster,
        )

    def _cost(self, target: str, trace: Trace) -> float | None:
        price = self._around.prices.get(target)
        usage = trace.usage
        if price is None or usage.input_tokens is None or usage.output_tokens is None:
            return None
        return (usage.input_tokens * price[0] + usage.output_tokens * price[1]) / 1_000_000

    def _keep(self, result: Result, attempts: Sequence[Attempt]) -> None:
        kept = self._around.ledger.keep(result, attempts)
        kept.add_done_callback(partial(self._committed, result))

    def _committed(self, result: Result, kept: asyncio.Future[None]) -> None:
        """A result is safe; if it is not, no further call is worth making."""
        self._slots.release()
        error = kept.exception()
        if error is None:
            self._around.on_result(result)
        elif not self._broken.done():
            self._broken.set_exception(error)

    async def _note_state(self) -> None:
        state: RunState = "retrying" if self._schedule.is_only_retrying else "running"
        if state != self._state:
            self._state = state
            await self._around.ledger.move(state)


async def _answer(target: Target, request: Request) -> Trace | TargetError:
    """What a target said, or how it failed; its bug is that record's business, not the run's."""
    try:
        return await target.ask(request)
    except TargetError as error:
        return error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        return TargetError("target_error", "the target cancelled itself")
    except Exception as error:  # noqa: BLE001 - one record's failure never stops another
        return TargetError("target_error", f"{type(error).__name__}: {error}")


def _attempt(
    work: Work,
    at: datetime,
    *,
    trace: Trace | None = None,
    error: TargetError | None = None,
    elapsed: float | None = None,
    wait: float | None = None,
) -> Attempt:
    usage = trace.usage if trace else None
    return Attempt(
        index=work.result.index,
        record_id=work.result.record_id,
        target=work.result.target or "",
        repeat=work.result.repeat,
        call=TARGET_CALL,
        attempt=work.attempt,
        at=at.isoformat(timespec="milliseconds"),
        latency_ms=trace.latency_ms if trace else elapsed,
        error_code=error.code if error else None,
        message=str(error) if error else None,
        http_status=error.http_status if error else None,
        retry_in_s=None if wait is None else round(wait, 3),
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        request_id=error.request_id if error else None,
    )


def _failure(work: Work, error: TargetError, attempt: Attempt) -> Result:
    status: RecordStatus = "timeout" if error.code == "timeout" else "evaluation_error"
    return replace(
        work.result,
        status=status,
        label=error.code,
        message=str(error),
        attempts=work.attempt,
        first_attempt_at=work.result.first_attempt_at or attempt.at,
        last_attempt_at=attempt.at,
    )
