"""The judges of a run and everything that their calls need."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import NamedTuple

from steelyard.engine.budget import Stop
from steelyard.engine.cache import AnswerCache
from steelyard.engine.judging.judge_calls import JudgeCalls, KeptBefore
from steelyard.engine.judging.judge_claims import judge_claims
from steelyard.engine.judging.judge_probe import probe_endpoints
from steelyard.engine.judging.judge_targets import Coming, Endpoint, JudgeTarget
from steelyard.engine.judging.judged_records import JudgedRecords
from steelyard.engine.pending_rows import read_judgement
from steelyard.engine.phase import JudgesPhase, Phase
from steelyard.engine.record_work import EngineContext
from steelyard.engine.slots import Slots
from steelyard.execution.parts import Part
from steelyard.execution.ports import ExecutionPorts, Judgements, TargetSpec
from steelyard.execution.prepared import Prepared
from steelyard.execution.work import Limiters
from steelyard.model.trace import Trace
from steelyard.model.unsent import EVERYTHING
from steelyard.ports import Warn

NO_RECORD = (-1, 0)
"""The index of calls that belong to no record."""


class KeptJudging:
    """Stored answers and replies of records without a result, from earlier processes."""

    def __init__(self, judgements: Judgements, run_id: str) -> None:
        self.answered = judgements.answered(run_id)
        self._judged = judgements.judged(run_id)
        self._tried = judgements.tried(run_id)

    def before(self, index: int, repeat: int) -> KeptBefore:
        """The judge replies of a record, and the number of calls."""
        place = index, repeat
        if place not in self._judged and place not in self._tried:
            return KeptBefore()
        kept = self._judged.get(place, {})
        judgements = {key: read_judgement(data) for key, data in kept.items()}
        return KeptBefore(judgements, self._tried.get(place, {}))


class Shared(NamedTuple):
    """State that judging shares with the rest of a run."""

    around: EngineContext
    phase: Phase
    limiters: Limiters


class RunJudges:
    """The judges of a run, or of a part of it."""

    def __init__(
        self, calls: JudgeCalls, at_once: int, kept: KeptJudging, part: Part, warn: Warn
    ) -> None:
        self._warn = warn
        self.records = JudgedRecords(calls, at_once, kept.before)
        self.answered = kept.answered
        """Stored answers that wait for judges, by index and repeat."""
        self._calls = calls
        self._kept = kept
        self._is_whole = part.coordinator is None

    async def probe(self) -> None:
        """Probe whether endpoints enforce a schema, and warn if they do not.

        A part of a run reads the result from the process that holds the run.
        """
        await probe_endpoints(self._calls, self._kept.before(*NO_RECORD))
        for by in self._calls.targets:
            if by.endpoint.can_hold and by.endpoint.is_enforced is False and self._is_whole:
                self._warn(
                    f"targets.{by.name} does not hold its model to a schema: judges are told the "
                    "form of their reply in words alone, and a reply without it is unscored"
                )

    def stop(self, stop: Stop) -> None:
        """Call no more judges: records that still need one are cancelled."""
        self._calls.stop(stop)

    def end(self) -> None:
        """Wait until no call is in flight."""
        for by in self._calls.targets:
            if by.claims:
                by.claims.end()


def run_judges(
    ports: ExecutionPorts, run_id: str, prepared: Prepared, shared: Shared
) -> RunJudges | None:
    """The judges of a run; None if it has no judge."""
    specs = prepared.judge_specs
    if not specs:
        return None
    endpoints: dict[str, Endpoint] = {}
    for spec in specs.values():
        known = endpoint_id(spec)
        endpoints.setdefault(known, Endpoint(id=known, can_hold=spec.can_hold))
    scope = None if prepared.options.cache else run_id
    coming: dict[str, Coming] = {name: {} for name in specs}
    targets = {
        name: JudgeTarget(
            name=name,
            target=spec.target,
            limiter=shared.limiters.of(spec),
            slots=Slots(2 * spec.max_concurrency),
            claims=(
                judge_claims(
                    prepared.part.holder(f"judge {name}"),
                    shared.around,
                    2 * spec.max_concurrency,
                    coming[name],
                )
                if spec.response_source == "sampled"
                else None
            ),
            coming=coming[name],
            endpoint=endpoints[endpoint_id(spec)],
            price=spec.price,
            counts_tokens=spec.tokens_per_minute is not None,
            cache=_cache(ports.judgements, scope, spec) if spec.is_cacheable else None,
            model=spec.model,
            sampling=spec.sampling,
            replies_sha256=spec.replies_sha256,
            # The author of recorded replies saw the full content.
            carries=spec.carries if spec.is_asked else frozenset((EVERYTHING,)),
            omits=spec.omits,
            is_timed=spec.is_asked,
        )
        for name, spec in specs.items()
    }
    plan = ports.repository.find(run_id).plan
    secret = ((plan and plan.secret) or run_id).encode("utf-8")
    phase = JudgesPhase(shared.phase)
    calls = JudgeCalls(targets, prepared.judges.target_of, shared.around, phase, secret)
    # Enough records to keep the busiest target at work while others are committed.
    at_once = 4 * max(spec.max_concurrency for spec in specs.values())
    return RunJudges(
        calls, at_once, KeptJudging(ports.judgements, run_id), prepared.part, ports.warn
    )


def endpoint_id(spec: TargetSpec) -> str:
    """The key of a model at its endpoint, without sampling settings."""
    described = spec.target.described()
    parts = [described.get(key) for key in ("provider", "base_url", "model")]
    return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:16]


def _cache(judgements: Judgements, scope: str | None, spec: TargetSpec) -> AnswerCache:
    """Cached replies, of the run or of the whole project."""
    replies = [spec.replies_sha256] if spec.replies_sha256 else []
    settings = json.dumps(["judge", spec.target.described(), *replies], sort_keys=True)
    recall = partial(_recalled, judgements, scope)
    return AnswerCache(settings, recall, judgements.keys(scope))


def _recalled(judgements: Judgements, scope: str | None, key: bytes) -> Trace | None:
    """A stored reply; None if it was redacted, because it differs from the original."""
    kept = judgements.reply(key, scope)
    return None if kept is None or b"[redacted" in kept else read_judgement(kept).trace
