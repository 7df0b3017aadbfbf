"""The loop over records: ask, retry, grade, keep; one record's failure never stops another."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from typing import cast

from msgspec.structs import replace

from steelyard.engine.attempts import attempt_of, call_of, interruption
from steelyard.engine.breakable import BrokenOff, Waiting, this_task
from steelyard.engine.budget import Stop
from steelyard.engine.cache import AnswerCache
from steelyard.engine.claims import Claimed, Claims
from steelyard.engine.costs import cost_of, with_cost
from steelyard.engine.grading.grading import grade
from steelyard.engine.phase import Phase
from steelyard.engine.prompts import prompt_tokens
from steelyard.engine.record_results import cancelled_of, failure_of, graded_of, made_before
from steelyard.engine.record_work import AskedTarget, EngineContext, JudgePort, Work
from steelyard.engine.retries import retry_wait
from steelyard.engine.schedule import Schedule
from steelyard.engine.slots import Slots
from steelyard.engine.target_calls import TIMED, TargetCalls
from steelyard.engine.threads import in_thread
from steelyard.errors import TargetError
from steelyard.model.rubric import Rubric
from steelyard.model.run import INTERRUPTED, PlannedRecord, Result
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from steelyard.results.attempts import Attempt

_UNASKED = 512
"""Records on their way into the store after a stop: no call of theirs is at risk in a crash."""
_UNJUDGED = Verdict(status="evaluated")


class RecordLoop:
    """Evaluates the records of one target with a bounded number of calls at once."""

    def __init__(
        self,
        source: Iterator[Work | Result],
        asked: AskedTarget,
        around: EngineContext,
        phase: Phase,
    ) -> None:
        self._around = around
        self._asked = asked
        self._phase = phase
        self._schedule = Schedule[Work | Result](source, around.clock)
        self._claims: Claims[Work] | None = None
        if asked.claims:
            how = Claimed(asked.claims, _place, call_of, self._upcoming)
            self._claims = Claims(how, around.ledger, around.clock.stamp)
        self._slots = Slots(0)
        self._width = 0
        self._alive = 0
        """Tasks that take a record when they are through with one."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = False
        self._waiting = Waiting()
        self._calls = TargetCalls(asked, around, self._waiting)
        self._rubric: Rubric | None = None
        self._is_simple = False
        self._simple_forms: dict[tuple[type, ...], bool] = {}
        around.budget.on_stop(self.stop)
        phase.join(self)

    async def run(self, concurrency: int) -> None:
        """Work until the stream is empty; calls not yet committed stay within twice the limit."""
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        await self._phase.report(self, is_only_retrying=False)
        self._use_width(concurrency)
        self._asked.limiter.on_width(self._use_width)
        finished = asyncio.ensure_future(self._finish())
        try:
            await asyncio.wait([finished, self._broken], return_when=asyncio.FIRST_COMPLETED)
            if not self._broken.done():
                finished.result()
                self._around.ledger.hurry()
                await self._slots.take_all()
            if self._broken.done():
                self._broken.result()
            await self._phase.leave(self)
        finally:
            self._is_over = True
            for task in (self._broken, finished, *self._tasks):
                task.cancel()
            await asyncio.gather(self._broken, finished, *self._tasks, return_exceptions=True)
            if self._claims:
                self._claims.end()

    def _use_width(self, width: int) -> None:
        """Let so many records at a time be asked about, from now on."""
        more = width - self._width
        if self._is_over or not more:
            return
        self._width = width
        if more > 0:
            self._slots.widen(2 * more)
        else:
            self._slots.narrow(-2 * more)
        if self._claims:
            self._claims.begin(2 * width)
        while self._alive < width:
            self._alive += 1
            task = asyncio.ensure_future(self._worker())
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _stays(self) -> bool:
        """Whether a task goes on, though there were too many."""
        if self._alive <= self._width:
            return True
        self._alive -= 1
        return False

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self._broken.done():
            self._broken.set_exception(error)

    async def _finish(self) -> None:
        """Until no task is left, later ones included."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._is_over = True

    def stop(self, stop: Stop) -> None:
        """Make no further call: every record that is left is kept as cancelled."""
        if not self._waiting.stopped:
            self._slots.widen(_UNASKED)
        self._waiting.stop(stop)
        self._schedule.hurry()

    def retries(self) -> Iterator[tuple[str, float]]:
        """The records that wait for another attempt: the last error, and the seconds left."""
        for work, seconds in self._schedule.retries():
            if isinstance(work, Work):
                yield work.failed_with, seconds

    @property
    def oldest_s(self) -> float | None:
        """How long the longest call has taken so far; None where none is under way."""
        return self._calls.oldest_s

    async def _worker(self) -> None:
        schedule, slots, task = self._schedule, self._slots, this_task()
        while (self._alive <= self._width or self._stays()) and (
            item := schedule.take_at_once() or await schedule.take()
        ) is not None:
            if schedule.is_drained:
                await self._report()
            if not slots.take_at_once():
                self._around.ledger.hurry()
                await slots.take()
            if self._broken.done():
                return
            if isinstance(item, Result):
                self._keep(item, ())
                schedule.done()
            elif item.answered:
                await self._hand_over(item, item.answered, ())
            elif self._waiting.stopped:
                self._cancel(item)
            else:
                if self._claims and not self._claims.covers(item):
                    await self._claims.cover(item)
                await self._attempt(item, task)
            if schedule.is_drained:
                await self._report()

    def _upcoming(self, count: int) -> list[Work]:
        """The records that are asked next."""
        coming = self._schedule.upcoming(count)
        return [one for one in coming if isinstance(one, Work) and not one.answered]

    async def _report(self) -> None:
        await self._phase.report(self, is_only_retrying=self._schedule.is_only_retrying)

    async def _attempt(self, work: Work, task: asyncio.Task[None]) -> None:
        cache = self._asked.cache
        if cache is None or work.attempt > 1:
            asked = await self._ask(work, task)
            if asked:
                await self._grade(work, *asked)
            return
        key = cache.key(work.prompt, work.record.repeat)
        if not cache.begin(key) and await self._is_known(work, cache, key):
            return
        asked = None
        try:
            asked = await self._ask(work, task)
        finally:
            cache.settle(key, asked[0] if asked else None)
        if asked:
            await self._grade(work, *asked, key)

    async def _is_known(self, work: Work, cache: AnswerCache, key: bytes) -> bool:
        """Whether an answer was given before, or soon is, so that nothing is left to ask."""
        try:
            with self._waiting.for_turn():
                known = await cache.find(key)
        except BrokenOff:
            self._cancel(work)
            return True
        if known is None:
            return False
        await self._grade(work, known)
        return True

    async def _ask(
        self, work: Work, task: asyncio.Task[None]
    ) -> tuple[Trace, Sequence[Attempt]] | None:
        """The answer to a call with its attempts; None when what came of it is kept already."""
        asked, prompt = self._asked, work.prompt
        tokens = prompt_tokens(prompt) if asked.counts_tokens else 0
        called = await self._calls.make(work, tokens, task)
        if called is None:
            self._cancel(work)
            return None
        answer, at, elapsed = called
        # How long it takes to find a recording says nothing about the one who was recorded.
        measured = elapsed if work.record.response_source in TIMED else None
        if isinstance(answer, TargetError):
            await self._failed(work, answer, at, measured)
            return None
        asked.limiter.answered(tokens, answer.usage.total_tokens if asked.counts_tokens else None)
        if answer.latency_ms is None and measured is not None:
            answer = replace(answer, latency_ms=measured)
        return answer, work.past or (attempt_of(work, at, trace=answer),)

    async def _grade(
        self,
        work: Work,
        answer: Trace,
        tried: Sequence[Attempt] = (),
        key: bytes | None = None,
    ) -> None:
        """Grade and keep an answer; without an attempt it was given before."""
        if not self._is_graded_at_once(work.rubric):
            await self._grade_with_help(work, answer, tried, key)
            return
        verdict = grade(work.rubric, answer, work.case)
        self._keep_graded(work, answer, tried, verdict, key)

    def _is_graded_at_once(self, rubric: Rubric) -> bool:
        """Whether no check of a rubric needs more than the answer; many records share one."""
        if rubric is not self._rubric:
            self._rubric = rubric
            self._is_simple = self._is_simple_form(rubric)
        return self._is_simple

    def _is_simple_form(self, rubric: Rubric) -> bool:
        """The same for a rubric that is not the last one, but may well be of a known form."""
        form = rubric.form
        if form is None or form not in self._simple_forms:
            is_simple = not (rubric.needs_cost or rubric.is_judged or rubric.runs_commands)
            if form is None:
                return is_simple
            self._simple_forms[form] = is_simple
        return self._simple_forms[form]

    async def _grade_with_help(
        self, work: Work, answer: Trace, tried: Sequence[Attempt], key: bytes | None
    ) -> None:
        """The same where judges or programs have a say."""
        if work.rubric.needs_cost:
            answer = with_cost(answer, self._asked.price)
        if self._around.judges and work.rubric.is_judged:
            answered = self._graded(work, answer, tried, _UNJUDGED, key)
            await self._hand_over(work, answered, tried)
            return
        if work.rubric.runs_commands:
            verdict = await self._graded_by_programs(work, answer, tried)
        else:
            verdict = grade(work.rubric, answer, work.case)
        self._keep_graded(work, answer, tried, verdict, key)

    async def _graded_by_programs(
        self, work: Work, answer: Trace, tried: Sequence[Attempt]
    ) -> Verdict:
        """A program may take seconds, and others must not wait for it."""
        try:
            return await in_thread(grade, work.rubric, answer, work.case)
        except asyncio.CancelledError:
            for made in () if work.past else tried:
                self._calls.log(work, made.at, interruption())
            raise

    def _keep_graded(
        self,
        work: Work,
        answer: Trace,
        tried: Sequence[Attempt],
        verdict: Verdict,
        key: bytes | None,
    ) -> None:
        result = self._graded(work, answer, tried, verdict, key)
        self._keep(result, tried)
        self._schedule.done()

    async def _hand_over(self, work: Work, answered: Result, tried: Sequence[Attempt]) -> None:
        """Leave an answer to judges; once it is kept, its slot here is free."""
        judges = cast(JudgePort, self._around.judges)

        def on_kept() -> None:
            self._settle(answered)
            self._slots.release()

        await judges.take(work, replace(answered, verdict=None), tried, on_kept)
        self._schedule.done()

    def _settle(self, record: PlannedRecord | Result) -> None:
        """What came of a record's call is about to be kept."""
        if self._claims:
            self._claims.settle((record.index, record.repeat))

    async def _failed(
        self, work: Work, error: TargetError, at: str, elapsed: float | None
    ) -> None:
        around, wait = self._around, None
        if work.past:
            self._keep(made_before(work, error), work.past)
            self._schedule.done()
            return
        if not self._waiting.stopped:
            wait = retry_wait(around.retry, error, work.attempt, around.chance, around.left_s)
        elif error.code == INTERRUPTED:
            self._cancel(work, attempt_of(work, at, error=error))
            return
        attempt = attempt_of(work, at, error=error, elapsed=elapsed, wait=wait)
        if wait is None:
            self._keep(failure_of(work, error, attempt), (attempt,))
            self._schedule.done()
            return
        # Kept before the next attempt starts, so that a crash in between loses nothing.
        self._settle(work.record)
        await around.ledger.keep(None, (attempt,), work.record.private)
        self._slots.release()
        first = work.record.first_attempt_at or attempt.at
        again = replace(
            work,
            attempt=work.attempt + 1,
            record=replace(work.record, first_attempt_at=first),
            failed_with=error.code,
        )
        self._schedule.again(again, 0.0 if self._waiting.stopped else wait)

    def _cancel(self, work: Work, attempt: Attempt | None = None) -> None:
        """Keep a record as one that was not asked, or not to the end."""
        stop = cast(Stop, self._waiting.stopped)
        cancelled = cancelled_of(work, stop, attempt)
        self._keep(cancelled, (attempt,) if attempt else ())
        self._schedule.done()

    def _graded(
        self,
        work: Work,
        trace: Trace,
        tried: Sequence[Attempt],
        verdict: Verdict,
        key: bytes | None,
    ) -> Result:
        cost = cost_of(trace, self._asked.price)
        if tried and cost is not None:
            self._around.budget.spend(cost)
        if key and self._asked.on_answer:
            self._asked.on_answer(key, work.record)
        return graded_of(work, trace, tried, verdict, cost=cost, key=key)

    def _keep(self, result: Result, attempts: Sequence[Attempt]) -> None:
        self._settle(result)
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


def _place(work: Work) -> tuple[int, int]:
    return work.record.index, work.record.repeat
