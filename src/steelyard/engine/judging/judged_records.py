"""Records that have an answer and wait for judges; they hold no place among those to be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from math import fsum
from typing import cast

from msgspec.structs import replace

from steelyard.engine.budget import Stop
from steelyard.engine.claims import unawaited
from steelyard.engine.grading.grading import grade_judged
from steelyard.engine.judging.judge_calls import AskedRecord, JudgeCalls, KeptBefore
from steelyard.engine.judging.judge_targets import JudgeTarget
from steelyard.engine.record_work import Work
from steelyard.engine.slots import Slots
from steelyard.engine.unseen import unseen
from steelyard.model.rubric import Rubric
from steelyard.model.run import Result
from steelyard.model.trace import Trace
from steelyard.model.verdict import Verdict
from steelyard.results.attempts import Attempt

JUDGE = "judge"
"""The label of a record without a score because of its judges."""


class JudgedRecords:
    """Judges a bounded number of records at once; the next one waits until there is room."""

    def __init__(
        self,
        calls: JudgeCalls,
        at_once: int,
        before: Callable[[int, int], KeptBefore],
    ) -> None:
        self._calls = calls
        self._around = calls.shared.around
        self._phase = calls.shared.phase
        self._before = before
        self._room = Slots(at_once)
        self._widths = {by.name: at_once // 2 for by in calls.targets}
        for by in calls.targets:
            by.limiter.on_width(partial(self._use_width, by))
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._is_over = False
        """Whether nothing more is judged; what is answered waits for the run to be resumed."""
        self._changed = asyncio.Event()
        self._error: BaseException | None = None

    async def take(
        self,
        work: Work,
        answered: Result,
        attempts: Sequence[Attempt],
        on_kept: Callable[[], None],
    ) -> None:
        """Keep an answer and judge it; returns when there is room for the record.

        An answer that was kept before comes without attempts and is not kept again.
        """
        # Before there is room: a stop may come while judges are slow, and the answer was paid for.
        kept = self._kept(work, answered, attempts, on_kept)
        await self._room.take()
        if self._is_over:
            return
        self._phase.enter()
        task = asyncio.ensure_future(self._judge(work, answered, kept))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _use_width(self, by: JudgeTarget, width: int) -> None:
        """A worker's share of the calls of a target has become another."""
        by.slots.resize(2 * width)
        if by.claims:
            by.claims.begin(2 * width)
        self._widths[by.name] = width
        self._room.resize(2 * max(self._widths.values()))

    def close(self) -> None:
        """No further record comes."""
        self._is_closed = True
        self._changed.set()

    async def run(self) -> None:
        """Until the last record is judged and kept; what cannot be kept is the end of the run."""
        try:
            while self._error is None and not (self._is_closed and not self._tasks):
                self._changed.clear()
                await self._changed.wait()
            if self._error:
                raise self._error
        finally:
            # Whoever waits for room gets it from those who are cancelled.
            self._is_over = True
            left = list(self._tasks)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    def stop(self, stop: Stop) -> None:
        """Ask judges nothing more: records that still need one are kept as cancelled."""
        self._calls.stop(stop)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()
        if not task.cancelled() and (error := task.exception()):
            self._error = self._error or error
        self._changed.set()

    def _kept(
        self,
        work: Work,
        answered: Result,
        attempts: Sequence[Attempt],
        on_kept: Callable[[], None],
    ) -> asyncio.Future[None] | None:
        if work.answered:
            on_kept()
            return None
        kept = self._around.ledger.keep_answer(answered, attempts)
        kept.add_done_callback(lambda _: on_kept())
        unawaited(kept)  # a stop may leave nobody who waits for it
        return kept

    async def _judge(
        self, work: Work, answered: Result, kept: asyncio.Future[None] | None
    ) -> None:
        try:
            result = await self._judged(work, answered, kept)
            if kept:
                await kept
            await self._around.ledger.keep(result, ())
            self._around.on_result(result)
        finally:
            await self._phase.leave()

    async def _judged(
        self, work: Work, answered: Result, kept: asyncio.Future[None] | None
    ) -> Result:
        trace = cast(Trace, answered.trace)
        before = self._before(answered.index, answered.repeat)
        asker = self._calls.of(work.record, before, unseen(work.case, trace), kept)
        verdict = await grade_judged(work.rubric, trace, work.case, asker)
        record = asker.record
        if record.error:
            raise record.error
        if record.stop:
            return _cancelled(answered, record)
        return _graded(work.rubric, answered, record, verdict)


def _graded(rubric: Rubric, answered: Result, record: AskedRecord, verdict: Verdict) -> Result:
    is_evaluated = verdict.status == "evaluated"
    return replace(
        _paid(answered, record),
        status=verdict.status,
        verdict=verdict,
        label=None if is_evaluated else _label(rubric, verdict),
        message="" if is_evaluated else verdict.reason,
    )


def _cancelled(answered: Result, record: AskedRecord) -> Result:
    """A record whose judging was broken off: it has an answer and no score."""
    stop = cast(Stop, record.stop)
    paid = _paid(answered, record)
    return replace(paid, status="cancelled", label=stop.label, message=stop.message)


def _paid(answered: Result, record: AskedRecord) -> Result:
    judging = record.judging()
    costs = [cost for cost in (answered.cost_usd, judging.cost_usd) if cost is not None]
    return replace(answered, judging=judging, cost_usd=fsum(costs) if costs else None)


def _label(rubric: Rubric, verdict: Verdict) -> str:
    """Who is to blame: a judge where the first check without a score asks one."""
    judged = {one.id for one in rubric.checks if hasattr(one.check, "ask")}
    unscored = (one.check for one in verdict.results if one.outcome.status == "unscored")
    return JUDGE if next(unscored, None) in judged else verdict.status
