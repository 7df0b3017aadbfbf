"""Whether an endpoint holds its model to a schema, found out before anybody is judged.

Many servers accept a schema and ignore it. The schema of this call allows one answer that nobody
would give, and the question asks for another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from steelyard.engine.judging.judge_calls import JudgeCalls, KeptBefore
from steelyard.engine.judging.judge_targets import JudgeTarget
from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.judge import Judge
from steelyard.model.judgement import JudgeCall
from steelyard.model.run import PlannedRecord

_NONSENSE = "vexiloquar-7"
PROBE_MESSAGES: tuple[tuple[str, str], ...] = (
    ("system", 'Reply with a JSON object of the form {"colour": "…"} and nothing else.'),
    ("user", "What colour is the sky on a clear day?"),
)
PROBE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": [_NONSENSE]}},
    "required": ["colour"],
    "additionalProperties": False,
}
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
        # A refusal of the schema itself is answer enough.
        if by.endpoint.is_enforced is None:
            by.endpoint.is_enforced = is_enforced(reply.text)


def is_enforced(text: str) -> bool:
    """Whether the reply to the probe is the one that the schema allows."""
    try:
        value = cast(JsonValue, json.loads(text))
    except (ValueError, RecursionError):
        return False
    return value == {"colour": _NONSENSE}


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
