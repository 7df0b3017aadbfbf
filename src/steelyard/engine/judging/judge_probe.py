"""Whether an endpoint holds its model to a schema, found out before anybody is judged."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.engine.judging.judge_calls import JudgeCalls, KeptBefore
from steelyard.engine.judging.judge_targets import JudgeTarget
from steelyard.errors import TargetError
from steelyard.judging.probe import PROBE_MESSAGES, PROBE_SCHEMA, is_enforced
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.run import PlannedRecord

_PROBE = Judge(id="probe", version="1.0.0", template="")
_NO_RECORD = PlannedRecord(index=-1, record_id=None)


async def probe_endpoints(calls: JudgeCalls, before: KeptBefore) -> None:
    """Ask every endpoint that can be held to a schema, once; what was found before counts.

    One that cannot be asked just now stays unknown, and so do the replies to the others.
    """
    for by in _first_of_each(calls):
        asker = calls.of(_NO_RECORD, before)
        try:
            reply = await asker.ask(_call(by))
        except TargetError:
            continue
        finally:
            if asker.record.error:
                raise asker.record.error
        # A refusal of the schema itself has told already.
        if by.endpoint.is_enforced is None:
            by.endpoint.is_enforced = is_enforced(reply.text)


def _first_of_each(calls: JudgeCalls) -> Iterator[JudgeTarget]:
    seen: set[int] = set()
    for by in calls.targets:
        if by.endpoint.can_hold and id(by.endpoint) not in seen:
            seen.add(id(by.endpoint))
            yield by


def _call(by: JudgeTarget) -> JudgeCall:
    return JudgeCall(
        judge=_PROBE,
        messages=PROBE_MESSAGES,
        schema=PROBE_SCHEMA,
        identity="probe",
        item=by.endpoint.id,
        target=by.name,
    )
