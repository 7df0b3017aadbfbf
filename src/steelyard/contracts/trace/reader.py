"""Reads a trace."""

from __future__ import annotations

from functools import cache

from steelyard.contracts.message_rows import beyond, read_block, read_message
from steelyard.contracts.reading import located_finding
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import fields, object_field, object_list, optional_text
from steelyard.formats.schema import Schema
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.plausible import latency_ms, token_count
from steelyard.model.trace import Trace, Usage

_TRACE = {
    *("messages", "usage", "latency_ms", "first_token_ms", "finish_reason", "refusal", "model"),
}
_USAGE = {"input_tokens", "output_tokens"}


@cache
def _schema() -> Schema:
    return Schema(load_schema("trace"))


def read_trace(value: JsonValue) -> tuple[Trace | None, list[Finding]]:
    """The trace that a value stands for, and what is wrong with it; None when it is none."""
    schema = _schema()
    problems = [] if schema.is_clean(value) else schema.problems(value)
    findings = [located_finding(problem) for problem in problems]
    if any(finding.is_error for finding in findings):
        return None, findings
    return _trace(fields(value)), findings


def _trace(row: JsonObject) -> Trace:
    usage = object_field(row, "usage")
    messages = object_list(row, "messages")
    return Trace(
        messages=tuple(
            read_message(item, lambda block, _index: read_block(block)) for item in messages
        ),
        usage=Usage(
            input_tokens=token_count(usage.get("input_tokens")),
            output_tokens=token_count(usage.get("output_tokens")),
            extra=beyond(usage, _USAGE),
        ),
        latency_ms=latency_ms(row.get("latency_ms")),
        first_token_ms=latency_ms(row.get("first_token_ms")),
        finish_reason=optional_text(row, "finish_reason"),
        refusal=optional_text(row, "refusal"),
        model=optional_text(row, "model"),
        extra=beyond(row, _TRACE),
    )
