"""What a function returns of a chat client: a completion, a message or a list of messages."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec.structs import replace

from steelyard.contracts.trace.writer import trace_row
from steelyard.errors import TargetError
from steelyard.formats.plain_json import plain_json
from steelyard.model.json_value import JsonObject
from steelyard.targets.openai import read_completion


def reply_of(answer: object) -> object:
    """A text or a trace as it is; the reply of a chat client as the row of a trace.

    Objects of a client are known by `model_dump`, so that none is imported.
    """
    if isinstance(answer, str) or not _is_of_a_chat(answer):
        return answer
    try:
        plain = plain_json(answer)
    except (TypeError, ValueError, RecursionError) as wrong:
        raise TargetError("bad_response", f"the trace cannot be kept: {wrong}") from None
    if isinstance(plain, list):
        return {"messages": plain}
    reply = cast(JsonObject, plain)
    if "choices" in reply and "messages" not in reply:
        trace = read_completion(msgspec.json.encode(reply), 0.0)
        return trace_row(replace(trace, latency_ms=None))
    return reply if "messages" in reply or "role" not in reply else _of_message(reply)


def _is_of_a_chat(answer: object) -> bool:
    if isinstance(answer, dict):
        names = cast(dict[Any, Any], answer)
        return "messages" not in names and ("choices" in names or "role" in names)
    parts = cast(list[object], answer) if isinstance(answer, list) else [answer]
    return bool(parts) and all(isinstance(one, dict) or _is_dumped(one) for one in parts)


def _is_dumped(answer: object) -> bool:
    return callable(getattr(answer, "model_dump", None))


def _of_message(message: JsonObject) -> JsonObject:
    row: JsonObject = {"messages": [message]}
    if isinstance(message.get("refusal"), str):
        row["refusal"] = message["refusal"]
    return row
