"""Calls to judges: limited, retried, paid for, logged, and kept before they are used."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import fsum
from typing import cast

from msgspec import field

from steelyard.engine.breakable import BrokenOff, Waiting
from steelyard.engine.budget import Stop
from steelyard.engine.judging.judge_request import JudgeContext, JudgeRequest
from steelyard.engine.judging.judge_targets import JudgeTarget
from steelyard.engine.phase import JudgesPhase
from steelyard.engine.record_work import EngineContext
from steelyard.engine.unseen import Unseen
from steelyard.errors import RunError, TargetError
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.judgement import JudgeCall, Judgement, Reply, TokenChoice
from steelyard.model.run import INTERRUPTED, Judging, PlannedRecord
from steelyard.model.trace import Trace

_ALL_SEEN = Unseen()


class KeptBefore(FrozenStruct, frozen=True):
    """What an earlier process kept of the judging of a record."""

    judgements: Mapping[str, Judgement] = field(default_factory=dict[str, Judgement])
    """By the key of their call."""
    tried: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many attempts were made for a call."""


class JudgeCalls:
    """All calls to judges of a run."""

    def __init__(
        self,
        targets: Mapping[str, JudgeTarget],
        target_of: Callable[[JudgeCall], str | None],
        around: EngineContext,
        phase: JudgesPhase,
        secret: bytes,
    ) -> None:
        self.shared = JudgeContext(around=around, phase=phase, waiting=Waiting())
        around.budget.on_stop(self.stop)
        self._targets = targets
        self._target_of = target_of
        self._secret = hashlib.blake2b(secret, digest_size=32).digest()

    @property
    def targets(self) -> Iterable[JudgeTarget]:
        """Through which judges are asked."""
        return self._targets.values()

    def of(
        self,
        record: PlannedRecord,
        before: KeptBefore,
        unseen: Unseen = _ALL_SEEN,
        kept: asyncio.Future[None] | None = None,
    ) -> RecordAsker:
        """Who asks judges about one record, of which they cannot see something.

        Nobody is asked before its answer is `kept`; where it was so earlier, that is None.
        """
        return RecordAsker(self, AskedRecord(record, before, unseen, kept))

    def stop(self, stop: Stop) -> None:
        """Make no further call; an urgent stop breaks off those that are being made."""
        self.shared.waiting.stop(stop)

    def target(self, call: JudgeCall) -> JudgeTarget:
        """Through which a judge is asked."""
        name = self._target_of(call)
        if name is None or name not in self._targets:
            raise TargetError(
                "no_judge_target",
                f"{call.judge.name} has no target: set judges.{call.judge.id}.target or "
                "judges.default.target in steelyard.yaml",
            )
        return self._targets[name]

    def secret(self, *parts: object) -> bytes:
        """Bytes that follow from the secret of the run alone."""
        data = repr(parts).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, digest_size=32, key=self._secret).digest()


class AskedRecord:
    """One record while judges look at it."""

    def __init__(
        self,
        planned: PlannedRecord,
        before: KeptBefore,
        unseen: Unseen = _ALL_SEEN,
        kept: asyncio.Future[None] | None = None,
    ) -> None:
        self.planned = planned
        self.unseen = unseen
        self.kept = kept
        self.judgements = dict(before.judgements)
        self.tried = before.tried
        self.asking: dict[str, asyncio.Event] = {}
        """The calls that are under way."""
        self.stop: Stop | None = None
        """Why judging was broken off, if it was."""
        self.error: RunError | None = None
        """Why a judgement could not be kept, which is the end of the run."""

    def judging(self) -> Judging:
        """What it took so far."""
        made = list(self.judgements.values())
        traces = [one.trace for one in made if one.trace and not one.is_cached]
        return Judging(
            calls=sum(not one.is_cached for one in made),
            unanswered=sum(one.trace is None for one in made),
            attempts=sum(one.attempts for one in made),
            input_tokens=_total(trace.usage.input_tokens for trace in traces),
            output_tokens=_total(trace.usage.output_tokens for trace in traces),
            cost_usd=_sum(one.cost_usd for one in made),
            cached=sum(one.is_cached for one in made),
            saved_usd=_sum(one.saved_usd for one in made),
        )


class RecordAsker:
    """The `Asker` of one record, or of one check of it."""

    def __init__(self, calls: JudgeCalls, record: AskedRecord, check: str = "") -> None:
        self.record = record
        self._calls = calls
        self._check = check

    def within(self, check: str) -> RecordAsker:
        """The same for one check; the names of checks within checks are joined by `/`."""
        name = f"{self._check}/{check}" if self._check else check
        return RecordAsker(self._calls, self.record, name)

    def secret(self, what: str) -> bytes:
        """Bytes that nobody outside the run can guess."""
        planned = self.record.planned
        return self._calls.secret(planned.index, planned.repeat, self._check, what)

    async def ask(self, call: JudgeCall) -> Reply:
        """The judge's reply; one that was given before is not asked for again."""
        record = self.record
        by = self._calls.target(call)
        if record.unseen.is_any:
            call = record.unseen.shown_with(call, by.carries, omits=by.omits)
        key = call_key(self._check, call, by.name)
        while key not in record.judgements:
            if key in record.asking:
                await record.asking[key].wait()
                continue
            record.asking[key] = asyncio.Event()
            try:
                record.judgements[key] = await self._judgement(
                    JudgeRequest(
                        shared=self._calls.shared,
                        record=record.planned,
                        answer_kept=record.kept,
                        check=self._check,
                        call=call,
                        key=key,
                        by=by,
                    )
                )
            finally:
                record.asking.pop(key).set()
        return _reply(record.judgements[key])

    async def _judgement(self, request: JudgeRequest) -> Judgement:
        record = self.record
        try:
            return await request.run(record.tried.get(request.key, 0))
        except BrokenOff:
            record.stop = self._calls.shared.waiting.stopped
            raise TargetError(INTERRUPTED, "judging was broken off") from None
        except RunError as error:
            # Nothing that a check may take for a failed call: the run cannot go on.
            record.error = error
            raise


def call_key(check: str, call: JudgeCall, target: str) -> str:
    """What a call is known by within its record: a hash, since names may hold secrets."""
    return _key(check, call.judge.name, call.item, call.turn, call.sample, call.round, target)


@lru_cache(maxsize=4096)
def _key(*parts: str | int | None) -> str:
    """The same for every record that is asked the same."""
    data = json.dumps(parts).encode("utf-8", "surrogatepass")
    # After `target`, which the attempts of a record are sorted by.
    return f"verdict-{hashlib.blake2b(data, digest_size=16).hexdigest()}"


def _reply(judgement: Judgement) -> Reply:
    trace = judgement.trace
    if trace is None:
        raise TargetError(judgement.error_code or "", judgement.message or "")
    return Reply(
        text=trace.response,
        fingerprint=judgement.fingerprint,
        target=judgement.target,
        model=trace.model,
        is_enforced=judgement.is_enforced,
        finish_reason=trace.finish_reason,
        refusal=trace.refusal,
        logprobs=_choices(trace),
        cost_usd=judgement.cost_usd,
    )


def _choices(trace: Trace) -> tuple[TokenChoice, ...]:
    """The tokens of a reply with what could have stood in their place, where the target says."""
    rows = trace.extra.get("logprobs")
    if not isinstance(rows, list):
        return ()
    return tuple(
        TokenChoice(str(row["token"]), cast("dict[str, float]", row["logprobs"]))
        for row in rows
        if isinstance(row, dict)
    )


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return fsum(known) if known else None
