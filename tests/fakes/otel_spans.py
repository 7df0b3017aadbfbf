"""Exports of spans as OpenTelemetry's JSON writes them, small."""

from __future__ import annotations

from typing import Any, cast

TRACE = "5b8efff798038103d269b633813fc60c"


def value(given: Any) -> dict[str, Any]:
    """A value with its type around it."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(item) for item in cast(list[Any], given)]}}
    if isinstance(given, dict):
        return {"kvlistValue": {"values": attributes(cast(dict[str, Any], given))}}
    return {"stringValue": given}


def attributes(named: dict[str, Any]) -> list[dict[str, Any]]:
    """Attributes as a list."""
    return [{"key": name, "value": value(given)} for name, given in named.items()]


def event(name: str, /, **named: Any) -> dict[str, Any]:
    """Something that happened within a span; `__` stands for a dot."""
    known = {key.replace("__", "."): given for key, given in named.items()}
    return {"name": name, "timeUnixNano": "1", "attributes": attributes(known)}


def span(
    named: dict[str, Any],
    *,
    trace: str = TRACE,
    span_id: str = "1",
    parent: str = "",
    start: int = 1_000_000_000,
    ms: int = 250,
    events: list[dict[str, Any]] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A span that lasts so many milliseconds."""
    return {
        "traceId": trace,
        "spanId": span_id,
        "parentSpanId": parent,
        "name": "chat m-1",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + ms * 1_000_000),
        "attributes": attributes(named),
        "events": events or [],
        **more,
    }


def export(*spans: dict[str, Any], service: str = "desk") -> dict[str, Any]:
    """One export."""
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}
