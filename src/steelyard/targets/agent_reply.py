"""What an agent answers with: a trace, a response, or a plain text."""

from __future__ import annotations

import re
from typing import TypeGuard

from msgspec.structs import replace

from steelyard.errors import ParseError, TargetError
from steelyard.formats.encoding import without_bom
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.trace import Trace
from steelyard.targets.callables import trace_of
from steelyard.targets.reply_json import require_text

_BEGINS_LIKE_A_TRACE = re.compile(rb'\s*\{\s*"(?:messages|response_text)"\s*:')


def is_reply(value: JsonValue) -> TypeGuard[JsonObject]:
    """Whether a value sets out to be a trace or a response."""
    return isinstance(value, dict) and ("messages" in value or "response_text" in value)


def read_reply(value: JsonValue) -> Trace:
    """The trace of a JSON object: a trace itself, or a `response_text`."""
    if not is_reply(value):
        raise TargetError(
            "bad_response",
            "the answer is neither a trace (with 'messages') nor an object with 'response_text'",
        )
    if "messages" in value:
        return trace_of(value)
    text = value["response_text"]
    if not isinstance(text, str):
        raise TargetError("bad_response", "'response_text' is no text")
    rest = {name: field for name, field in value.items() if name != "response_text"}
    return trace_of({"messages": [{"role": "assistant", "content": text}], **rest})


def read_output(data: bytes) -> Trace:
    """The trace of what a program wrote: JSON as above, and any other text as the response."""
    data = without_bom(data)
    require_text(data, "bad_response", "the output", "have the program write UTF-8")
    if data.lstrip()[:1] == b"{":
        value = _value(data)
        if is_reply(value):
            return read_reply(value)
    return trace_of(data.decode("utf-8").rstrip("\r\n"))


def with_latency(trace: Trace, latency_ms: float) -> Trace:
    """The trace, with the time that was measured unless it brings its own."""
    return trace if trace.latency_ms is not None else replace(trace, latency_ms=latency_ms)


def _value(data: bytes) -> JsonValue:
    """The JSON of an output; a response may be JSON too, and may be broken, but no trace."""
    try:
        return parse_json(data)
    except ParseError:
        pass
    try:
        return parse_json_tolerantly(data).value
    except ParseError as wrong:
        if _BEGINS_LIKE_A_TRACE.match(data):
            message = f"the output begins like a trace, but is not JSON: {wrong}"
            raise TargetError("bad_response", message) from None
        return None
