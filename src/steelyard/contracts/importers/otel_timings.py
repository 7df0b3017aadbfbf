"""When the spans of a trace began and how long they took."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.contracts.importers.otel_spans import Span
from steelyard.contracts.importers.otel_verdicts import OPERATIONS
from steelyard.model.json_value import JsonObject, JsonValue

MOST = 1000
"""The most spans of one trace that are kept."""
_NS = 1_000_000
_KNOWN = ("chat", "execute_tool", "invoke_agent", *OPERATIONS.values())
_KINDS = {"execute_tool": "tool", "invoke_agent": "agent", "chat": "model"}


def span_rows(ordered: Sequence[Span], verdicts: Sequence[Span]) -> list[JsonValue]:
    """The spans as a trace keeps them, each after the one that holds it; none for a single one.

    Of spans that judge the trace only the time is kept: whoever reads it may be about to judge.
    """
    timed = [span for span in ordered if 0 < span.start_ns <= span.end_ns]
    if len(timed) < 2:
        return []
    begin = min(span.start_ns for span in timed)
    parents = {span.span_id: span.parent_id for span in timed}
    telling = {id(span) for span in verdicts}
    return [_row(span, begin, parents, id(span) in telling) for span in timed[:MOST]]


def _row(span: Span, begin: int, parents: dict[str, str], is_verdict: bool) -> JsonObject:
    operation = str(span.attributes.get("gen_ai.operation.name") or "")
    if is_verdict and operation not in _KNOWN:
        operation = ""
    row: JsonObject = {
        "name": (not is_verdict and span.name) or operation or "span",
        "kind": _KINDS.get(operation) or operation or "other",
        "start_ms": (span.start_ns - begin) / _NS,
        "duration_ms": (span.end_ns - span.start_ns) / _NS,
        "depth": _depth(span.span_id, parents),
    }
    return row if span.error is None or is_verdict else {**row, "error": span.error}


def _depth(span_id: str, parents: dict[str, str]) -> int:
    """How many spans hold it; a circle of parents ends."""
    seen = {span_id}
    parent = parents[span_id]
    while parent in parents and parent not in seen:
        seen.add(parent)
        parent = parents[parent]
    return len(seen) - 1
