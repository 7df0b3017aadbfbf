"""What a target is sent, as JSON."""

from __future__ import annotations

from typing import cast

import msgspec

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.ports import Request

_JUDGED = ("judge", "candidate", "check", "item", "turn", "sample", "round")
_encode = msgspec.json.Encoder().encode


def request_bytes(value: object) -> bytes:
    """A value as JSON in UTF-8."""
    try:
        return _encode(value)
    except UnicodeEncodeError:
        raise TargetError("bad_request", "the prompt holds half a character") from None


def request_row(request: Request) -> JsonObject:
    """A request as agents get it: on their standard input, or as the body of a POST."""
    row: JsonObject = {
        "id": request.case.id,
        "prompt": request.prompt.text,
        "messages": cast(list[JsonValue], messages_of(request)),
        "repeat": request.repeat,
        "attempt": request.attempt,
    }
    judged = request.judged
    if judged is None:
        return row
    asked: JsonObject = {name: cast(JsonValue, getattr(judged, name)) for name in _JUDGED}
    return {**row, "schema": judged.schema, "judged": asked}


def messages_of(request: Request) -> list[JsonObject]:
    """The conversation as chat messages."""
    return [{"role": role, "content": text} for role, text in request.prompt.messages]
