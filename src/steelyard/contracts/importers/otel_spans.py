"""Spans of OpenTelemetry as its JSON writes them: attributes and events as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object, as_objects
from steelyard.contracts.importers.source_row import wrong
from steelyard.model.json_value import JsonObject, JsonValue

_FAILED = (2, "STATUS_CODE_ERROR", "ERROR")
GROUPS = ("resourceSpans", "resource_spans")
SCOPES = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")
"""The names under which the lists of an export stand."""


class SpanEvent(NamedTuple):
    """Something that happened within a span."""

    name: str
    attributes: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One operation of a trace."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: JsonObject
    events: tuple[SpanEvent, ...]
    resource: JsonObject
    error: str | None
    """Why it failed, where it did."""


def spans_of(record: JsonObject) -> Iterator[Span]:
    """The spans of one export; raises ParseError where it is none."""
    if not isinstance(_first(record, GROUPS), list):
        raise wrong("this is no export of spans: it has no 'resourceSpans'")
    for span, resource in written_spans(record):
        yield read_span(span, resource)


def written_spans(record: JsonObject) -> Iterator[tuple[JsonObject, JsonObject]]:
    """The spans of one export as they are written, each with the attributes of its resource."""
    for group in as_objects(_first(record, GROUPS)):
        resource = attributes_of(as_object(group.get("resource")).get("attributes"))
        for scope in as_objects(_first(group, SCOPES)):
            for span in as_objects(scope.get("spans")):
                yield span, resource


def attributes_of(listed: JsonValue) -> JsonObject:
    """A list of keys and values as an object."""
    return {str(entry.get("key")): _value(entry.get("value")) for entry in as_objects(listed)}


def read_span(span: JsonObject, resource: JsonObject) -> Span:
    """One span; raises ParseError where it belongs to no trace."""
    trace_id = _first(span, ("traceId", "trace_id"))
    if not isinstance(trace_id, str) or not trace_id:
        raise wrong("a span has no 'traceId'")
    attributes = attributes_of(span.get("attributes"))
    return Span(
        trace_id=trace_id,
        span_id=str(_first(span, ("spanId", "span_id")) or ""),
        parent_id=str(_first(span, ("parentSpanId", "parent_span_id")) or ""),
        name=str(span.get("name") or ""),
        start_ns=_nanoseconds(_first(span, ("startTimeUnixNano", "start_time_unix_nano"))),
        end_ns=_nanoseconds(_first(span, ("endTimeUnixNano", "end_time_unix_nano"))),
        attributes=attributes,
        events=tuple(
            SpanEvent(str(event.get("name") or ""), attributes_of(event.get("attributes")))
            for event in as_objects(span.get("events"))
        ),
        resource=resource,
        error=_error(span, attributes),
    )


def _error(span: JsonObject, attributes: JsonObject) -> str | None:
    status = as_object(span.get("status"))
    if status.get("code") not in _FAILED:
        return None
    return str(status.get("message") or attributes.get("error.type") or "the operation failed")


def _first(row: JsonObject, names: tuple[str, ...]) -> JsonValue:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _nanoseconds(value: JsonValue) -> int:
    """A time, which JSON writes as a text because of its size."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0
    try:
        return int(value)
    except (ValueError, OverflowError):
        return 0


def _value(value: JsonValue) -> JsonValue:
    """One value of OpenTelemetry's as JSON itself would write it."""
    if not isinstance(value, dict):
        return value
    # Some exporters write the names of the protocol with underscores.
    given = {name.replace("_", "").lower(): held for name, held in value.items()}
    for kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
        if kind in given:
            return given[kind]
    if "intvalue" in given:
        return _nanoseconds(given["intvalue"])
    if "kvlistvalue" in given:
        return attributes_of(as_object(given["kvlistvalue"]).get("values"))
    if "arrayvalue" in given:
        return [_value(item) for item in as_objects(as_object(given["arrayvalue"]).get("values"))]
    return None
