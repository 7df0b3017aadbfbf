"""Writes a trace."""

from __future__ import annotations

from steelyard.contracts.message_rows import message_row
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace


def trace_row(trace: Trace) -> JsonObject:
    """A trace as its JSON object; what is not known is left out."""
    row: JsonObject = {"messages": [message_row(message) for message in trace.messages]}
    usage: JsonObject = {
        "input_tokens": trace.usage.input_tokens,
        "output_tokens": trace.usage.output_tokens,
    }
    usage = {name: value for name, value in usage.items() if value is not None}
    usage.update(trace.usage.extra)
    optional: JsonObject = {
        "usage": usage or None,
        "latency_ms": trace.latency_ms,
        "finish_reason": trace.finish_reason,
        "refusal": trace.refusal,
        "model": trace.model,
    }
    row.update({name: value for name, value in optional.items() if value is not None})
    return {**row, **trace.extra}
