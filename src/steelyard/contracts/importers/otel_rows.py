"""A span as it is stored: its ids and times apart, and all that it says as one JSON object."""

from __future__ import annotations

from steelyard.contracts.importers.conversation import as_object, as_objects
from steelyard.contracts.importers.otel_spans import Span, SpanEvent
from steelyard.model.json_value import JsonObject
from steelyard.model.trace_set import StoredSpan


def span_row(span: Span) -> JsonObject:
    """What a span says; what it leaves out is left out."""
    events: list[JsonObject] = [
        {"name": event.name, "attributes": event.attributes} for event in span.events
    ]
    row: JsonObject = {
        "name": span.name,
        "attributes": span.attributes,
        "events": [*events],
        "resource": span.resource,
        "error": span.error,
    }
    return {name: value for name, value in row.items() if value not in ("", None, [], {})}


def stored_span(trace_id: str, kept: StoredSpan) -> Span:
    """The span that was stored."""
    row = kept.row
    return Span(
        trace_id=trace_id,
        span_id=kept.span_id,
        parent_id=kept.parent_id,
        name=str(row.get("name", "")),
        start_ns=kept.start_ns,
        end_ns=kept.end_ns,
        attributes=as_object(row.get("attributes")),
        events=tuple(
            SpanEvent(str(event.get("name", "")), as_object(event.get("attributes")))
            for event in as_objects(row.get("events"))
        ),
        resource=as_object(row.get("resource")),
        error=str(row["error"]) if "error" in row else None,
    )
