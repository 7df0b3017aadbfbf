"""One call to a judge on its way, from the first attempt to the last."""

from __future__ import annotations

import asyncio
from typing import cast

from msgspec.structs import replace

from steelyard.engine.attempts import interruption, is_adapted, lost, outage, probe_answered
from steelyard.engine.breakable import BrokenOff, Waiting, this_task
from steelyard.engine.budget import Stop
from steelyard.engine.circuit import FOR_GOOD
from steelyard.engine.claims import unawaited
from steelyard.engine.costs import cost_of
from steelyard.engine.judging.judge_prompt import prompt_of_call
from steelyard.engine.judging.judge_targets import JudgeTarget
from steelyard.engine.phase import JudgesPhase
from steelyard.engine.prompts import prompt_tokens
from steelyard.engine.record_work import EngineContext
from steelyard.engine.retries import LOST_S, retry_wait
from steelyard.errors import ConnectionLostError, TargetError, TargetStoppedError
from steelyard.model.case import Case
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judgement import JudgeCall, Judgement
from steelyard.model.message import Message, Role, TextBlock
from steelyard.model.run import INTERRUPTED, PlannedRecord
from steelyard.model.trace import Trace
from steelyard.ports import Judged, Prompt, Request
from steelyard.results.attempts import Attempt

PROBE = "probe"


class JudgeContext(FrozenStruct, frozen=True, kw_only=True):
    """What all calls to judges share."""

    around: EngineContext
    phase: JudgesPhase
    waiting: Waiting


class JudgeRequest(FrozenStruct, frozen=True, kw_only=True):
    """One call, with all that it needs."""

    shared: JudgeContext
    record: PlannedRecord
    """Its index is negative for a call that is about none."""
    answer_kept: asyncio.Future[None] | None = None
    """Done as soon as the record's answer is kept; None where it was so before."""
    check: str
    call: JudgeCall
    key: str
    by: JudgeTarget

    async def run(self, tried: int) -> Judgement:
        """What came of it, kept; so many attempts were made before.

        A stop is `BrokenOff`; a judgement that cannot be kept, `RunError`.
        """
        cache = self.by.cache
        if cache is None or self._is_probe:
            return await self._asked(tried, None)
        key = self.by.cache_key(cache, self.call)
        if not cache.begin(key):
            with self.shared.waiting.for_turn():
                known = await cache.find(key)
            if known is not None:
                return await self._given_before(known)
        trace = None
        try:
            judgement = await self._asked(tried, key)
            trace = judgement.trace
        finally:
            cache.settle(key, trace)
        return judgement

    @property
    def _is_probe(self) -> bool:
        return self.record.index < 0

    async def _given_before(self, known: Trace) -> Judgement:
        judgement = replace(
            self._judgement(0, is_enforced=bool(self.by.endpoint.is_enforced)),
            trace=known,
            is_cached=True,
            saved_usd=cost_of(known, self.by.price),
        )
        await self.shared.around.ledger.keep_judgement(judgement, ())
        return judgement

    async def _asked(self, tried: int, cache_key: bytes | None) -> Judgement:
        async with self.shared.phase.call():
            while True:
                tried += 1
                made = await self._attempted(tried, cache_key)
                if isinstance(made, Judgement):
                    return made
                if made is None:
                    tried -= 1
                    continue
                async with self.shared.phase.wait():
                    with self.shared.waiting.for_turn():
                        await self.shared.around.clock.sleep(made)

    async def _attempted(self, number: int, cache_key: bytes | None) -> Judgement | float | None:
        """What came of an attempt, kept; or how long to wait for the next one.

        None where the target was away or knows better by now how to ask: there was no attempt.
        """
        by, clock, task = self.by, self.shared.around.clock, this_task()
        if not by.slots.take_at_once():
            await self._take_slot(number, task)
        try:
            await self._cover(number, task)
            prompt = prompt_of_call(self.call)
            tokens = prompt_tokens(prompt) if by.counts_tokens else 0
            await self._enter(tokens, task)
            if by.limiter.is_probing and by.answered:
                known, made = cast("tuple[JudgeRequest, int]", by.answered[0])
                await known.probe(made)
                return None
            request = self._request(number, prompt)
            at, started = clock.stamp(), clock.monotonic()
            answer = await self._logged_answer(request, at, task)
            if by.claims:
                by.claims.settle(self.place)
            elapsed = round((clock.monotonic() - started) * 1000, 3) if by.is_timed else None
            if is_adapted(answer) and self.place not in by.adapted:
                by.adapted.add(self.place)
                status = answer.http_status
                made = self._logged(number, at)
                made = replace(made, latency_ms=elapsed, http_status=status)
                self._log(made, answer)
                return None
            if isinstance(answer, TargetError):
                if await self._is_away(answer, started, self._logged(number, at), elapsed):
                    return None
                return await self._failed(answer, request, at, elapsed)
            by.answered.append((self, number))
            by.limiter.answered(tokens, answer.usage.total_tokens if by.counts_tokens else None)
            if answer.latency_ms is None and elapsed is not None:
                answer = replace(answer, latency_ms=elapsed)
            return await self._replied(answer, request, at, cache_key)
        finally:
            by.slots.release()

    async def _take_slot(self, number: int, task: asyncio.Task[None]) -> None:
        """Wait for a slot; until then the call is one of those that come next."""
        by = self.by
        by.coming[self.place] = self, number
        try:
            with self.shared.waiting.for_turn(task):
                await by.slots.take()
        finally:
            del by.coming[self.place]

    async def _cover(self, number: int, task: asyncio.Task[None]) -> None:
        """Wait until the call is claimed and the answer that it is about is kept."""
        claims = self.by.claims
        if claims and not claims.covers((self, number)):
            with self.shared.waiting.for_turn(task):
                await claims.cover((self, number))
        # With a claim, in whose commit it was: nobody has to wait for both.
        if self.answer_kept:
            await self.answer_kept

    async def probe(self, number: int) -> None:
        """See whether a target is back, by a call that it has answered before."""
        by, around = self.by, self.shared.around
        at, started = around.clock.stamp(), around.clock.monotonic()
        request = self._request(number, prompt_of_call(self.call))
        answer = await self._logged_answer(request, at, this_task())
        made = self._logged(number, at)
        if not isinstance(answer, TargetError):
            by.limiter.answered()
            around.budget.spend(cost_of(answer, by.price) or 0.0)
            self._log(made, probe_answered(answer))
            return
        elapsed = round((around.clock.monotonic() - started) * 1000, 3)
        if not await self._is_away(answer, started, made, elapsed):
            self._log(made, outage(answer))

    async def _logged_answer(
        self, request: Request, at: str, task: asyncio.Task[None]
    ) -> Trace | TargetError:
        """What came of a call; one that is cut off is logged."""
        try:
            return await self._answer(request, task)
        except asyncio.CancelledError:
            self._log(self._logged(request.attempt, at), interruption())
            raise
        finally:
            self.by.limiter.leave()

    async def _is_away(
        self, error: TargetError, started: float, made: Attempt, elapsed: float | None
    ) -> bool:
        """Whether the target is waited for, so that the call, which is logged, is no attempt."""
        by, around = self.by, self.shared.around
        if isinstance(error, ConnectionLostError) and not by.limiter.is_probing:
            self._log(replace(made, latency_ms=elapsed), lost(error))
            await around.clock.sleep(LOST_S)
            return True
        if not by.is_timed:  # a recording says nothing of an endpoint of today
            return False
        place = self.record.index, self.record.repeat
        is_last = made.attempt >= around.retry.max_attempts
        made = replace(made, latency_ms=elapsed, http_status=error.http_status)
        try:
            is_away = await by.limiter.failed(
                error, started, place, around.left_s, is_last=is_last
            )
        except asyncio.CancelledError:
            self._log(made, interruption())
            raise
        except TargetStoppedError:
            self._log(made, error if error.code in FOR_GOOD else outage(error))
            raise
        if not is_away or self.shared.waiting.stopped:
            return False
        self._log(made, outage(error))
        return True

    def _log(self, made: Attempt, error: TargetError) -> None:
        """Log a call that came to nothing, for which nobody waits."""
        made = replace(made, error_code=error.code, message=str(error))
        unawaited(self.shared.around.ledger.keep(None, (made,), self.record.private))

    async def _enter(self, tokens: int, task: asyncio.Task[None]) -> None:
        """Wait for one's turn."""
        limiter, waiting = self.by.limiter, self.shared.waiting
        if waiting.stopped:
            raise BrokenOff
        if not limiter.enter_at_once():
            with waiting.for_turn(task):
                await limiter.enter(tokens)
        if waiting.stopped or self.shared.around.budget.stop(limiter.in_flight):
            limiter.leave()
            raise BrokenOff

    async def _answer(self, request: Request, task: asyncio.Task[None]) -> Trace | TargetError:
        """What the judge said, or how it failed."""
        try:
            with self.shared.waiting.for_answer(task):
                return await self.by.target.ask(request)
        except TargetError as error:
            return error
        except BrokenOff:
            return interruption(cast(Stop, self.shared.waiting.stopped).message)
        except asyncio.CancelledError:
            if task.cancelling():
                raise
            return TargetError("target_error", "the target cancelled itself")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - one call's failure never stops another
            return TargetError("target_error", f"{type(error).__name__}: {error}")

    async def _replied(
        self, answer: Trace, request: Request, at: str, cache_key: bytes | None
    ) -> Judgement:
        around, judged = self.shared.around, cast(Judged, request.judged)
        cost = cost_of(answer, self.by.price)
        if cost is not None:
            around.budget.spend(cost)
        is_enforced = judged.is_held and bool(self.by.endpoint.is_enforced)
        judgement = self._judgement(
            request.attempt,
            is_enforced=is_enforced,
            trace=answer,
            cost_usd=cost,
            cache_key=cache_key,
        )
        attempt = replace(
            self._logged(request.attempt, at),
            latency_ms=answer.latency_ms,
            first_token_ms=answer.first_token_ms,
            input_tokens=answer.usage.input_tokens,
            output_tokens=answer.usage.output_tokens,
            http_status=answer.served.http_status if answer.served else None,
            request_id=answer.served.request_id if answer.served else None,
        )
        # Kept before it is used: what a verdict stands on is there, whatever happens next.
        await around.ledger.keep_judgement(judgement, (attempt,))
        return judgement

    async def _failed(
        self, error: TargetError, request: Request, at: str, elapsed: float | None
    ) -> Judgement | float:
        around, number = self.shared.around, request.attempt
        wait = retry_wait(around.retry, error, number, around.chance, around.left_s)
        if self.by.endpoint.is_downgraded(error, cast(Judged, request.judged)):
            wait = 0.0
        if self.shared.waiting.stopped:
            wait = None
        is_cut_off = error.code == INTERRUPTED and self.shared.waiting.stopped is not None
        attempt = replace(
            self._logged(number, at),
            latency_ms=None if is_cut_off else elapsed,
            error_code=error.code,
            message=str(error),
            http_status=error.http_status,
            retry_in_s=None if wait is None else round(wait, 3),
            request_id=error.request_id,
        )
        if is_cut_off or wait is not None:
            await around.ledger.keep(None, (attempt,), self.record.private)
            if wait is None:
                raise BrokenOff
            return wait
        judgement = replace(
            self._judgement(number, is_enforced=False), error_code=error.code, message=str(error)
        )
        await around.ledger.keep_judgement(judgement, (attempt,))
        return judgement

    @property
    def place(self) -> tuple[int, int, str]:
        """The key of a call within its run."""
        return self.record.index, self.record.repeat, self.key

    def call_of(self, number: int) -> Attempt:
        """As much of an attempt as is known before its call is made."""
        return replace(self._logged(number, ""), record_id=self.record.claimed_id)

    def _request(self, number: int, prompt: Prompt) -> Request:
        call, record, endpoint = self.call, self.record, self.by.endpoint
        shown = [Message(role=cast(Role, role), content=text) for role, text in call.messages]
        if call.images:
            shown[-1] = replace(shown[-1], content=(TextBlock(text=shown[-1].text), *call.images))
        return Request(
            # Nothing else of the case: what a judge may know stands in its prompt.
            case=Case(id=record.record_id or "", input_messages=tuple(shown)),
            prompt=prompt,
            repeat=record.repeat,
            attempt=number,
            judged=Judged(
                schema=call.schema,
                is_held=endpoint.is_held,
                wants_logprobs=call.wants_logprobs and endpoint.gives_logprobs,
                candidate=record.target or "",
                check=self.check,
                judge=call.judge.name,
                item=call.item,
                turn=call.turn,
                sample=call.sample,
                round=call.round,
            ),
        )

    def _judgement(
        self,
        attempts: int,
        *,
        is_enforced: bool,
        trace: Trace | None = None,
        cost_usd: float | None = None,
        cache_key: bytes | None = None,
    ) -> Judgement:
        call, record = self.call, self.record
        return Judgement(
            index=None if self._is_probe else record.index,
            record_id=record.record_id,
            repeat=record.repeat,
            key=self.key,
            check=self.check,
            judge=call.judge.name,
            target=self.by.name,
            fingerprint=self.by.fingerprint(call.identity),
            item=call.item,
            turn=call.turn,
            sample=call.sample,
            round=call.round,
            is_enforced=is_enforced,
            attempts=attempts,
            trace=trace,
            cost_usd=cost_usd,
            cache_key=cache_key,
            prompt=call.messages,
            nonce=call.nonce,
            private=record.private,
        )

    def _logged(self, number: int, at: str) -> Attempt:
        call, record = self.call, self.record
        return Attempt(
            index=None if self._is_probe else record.index,
            record_id=record.record_id,
            target=self.by.name,
            repeat=record.repeat,
            attempt=number,
            at=at,
            call=PROBE if self._is_probe else call.judge.name,
            check=self.check,
            item=call.item,
            turn=call.turn,
            sample=call.sample,
            round=call.round,
            key=self.key,
        )
