"""Writes a trace."""

from __future__ import annotations

from steelyard.contracts.message_rows import message_row
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace, Usage


def trace_row(trace: Trace) -> JsonObject:
    """A trace as its JSON object; what is not known is left out."""
    row: JsonObject = {"messages": [message_row(message) for message in trace.messages]}
    usage = _usage_row(trace.usage)
    if usage:
        row["usage"] = usage
    if trace.latency_ms is not None:
        row["latency_ms"] = trace.latency_ms
    if trace.first_token_ms is not None:
        row["first_token_ms"] = trace.first_token_ms
    if trace.finish_reason is not None:
        row["finish_reason"] = trace.finish_reason
    if trace.refusal is not None:
        row["refusal"] = trace.refusal
    if trace.model is not None:
        row["model"] = trace.model
    row.update(trace.extra)
    return row


def _usage_row(usage: Usage) -> JsonObject:
    row: JsonObject = {}
    if usage.input_tokens is not None:
        row["input_tokens"] = usage.input_tokens
    if usage.output_tokens is not None:
        row["output_tokens"] = usage.output_tokens
    row.update(usage.extra)
    return row
