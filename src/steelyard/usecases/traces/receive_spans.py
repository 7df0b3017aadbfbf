"""Receive a batch of spans: redact them, then store those that are new."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from steelyard.contracts.importers.otel_rows import span_row
from steelyard.contracts.importers.otel_spans import Span, read_span, written_spans
from steelyard.engine.redaction.redactor import Redactor
from steelyard.errors import ParseError
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.trace_set import MAX_SPANS, NewSpan, is_set_name, set_name_of
from steelyard.usecases.traces.ports import TracePorts, require_set_name

TRACE_SET = "steelyard.trace_set"
"""The resource attribute that names the set of a span."""
_SERVICE, _UNKNOWN = "service.name", "unknown_service"
_TRACE_ID, _SPAN_ID = re.compile("[0-9a-f]{32}"), re.compile("[0-9a-f]{16}")
_MAX_TIME = 2**63 - 1
_FULL = f"its trace has {MAX_SPANS:,} spans or 64 MB already"


class ReceivedSpans(NamedTuple):
    """What became of the spans of a batch."""

    new: int
    known: int
    """Those that were stored before."""
    rejected: int
    message: str
    """Why spans were rejected; empty where none was."""


def receive_spans(
    ports: TracePorts, batch: JsonObject, trace_set: str | None, *, caller: Caller | None = None
) -> ReceivedSpans:
    """Store the spans of a batch, each once.

    They go to the set that the caller names, or else their resource; or else to where their trace
    is already; or else to the set of their service.
    """
    ports = ports.called_by(caller)
    if trace_set is not None:
        require_set_name(trace_set)
    redactor = ports.redactor()
    rejected: Counter[str] = Counter()
    spans: list[NewSpan] = []
    for written, resource in written_spans(batch):
        try:
            spans.append(new_span(_valid(read_span(written, resource)), trace_set, redactor))
        except ParseError as wrong:
            rejected[str(wrong)] += 1
    if not spans:
        return ReceivedSpans(0, 0, rejected.total(), _told(rejected))
    added = ports.traces.add(spans, ports.created)
    if added.refused:
        rejected[_FULL] += added.refused
    return ReceivedSpans(added.new, added.known, rejected.total(), _told(rejected))


def new_span(span: Span, trace_set: str | None, redactor: Redactor) -> NewSpan:
    """A span as it is stored: redacted, and with the set that it is meant for."""
    named = trace_set or _named_set(span)
    return NewSpan(
        trace_set=named or _set_of_service(span, redactor),
        is_named=named is not None,
        trace_id=span.trace_id.lower(),
        span_id=span.span_id.lower(),
        parent_id=_parent_id(span),
        start_ns=_time(span.start_ns),
        end_ns=_time(span.end_ns),
        row=redactor.whole(span_row(span)),
    )


def _valid(span: Span) -> Span:
    for name, given, pattern in (
        ("trace id", span.trace_id, _TRACE_ID),
        ("span id", span.span_id, _SPAN_ID),
    ):
        if not pattern.fullmatch(given.lower()) or not given.strip("0"):
            digits = 32 if pattern is _TRACE_ID else 16
            raise ParseError(
                f"a {name} has {digits} hexadecimal digits, not all of them 0",
                code="invalid_field_type",
            )
    _require_times(span)
    return span


def _require_times(span: Span) -> None:
    """Refuse times that the protocol cannot hold; an end of 0 is not known yet."""
    if not all(0 <= time < 1 << 64 for time in (span.start_ns, span.end_ns)):
        raise ParseError(
            "a time is a number of nanoseconds from 0 to 2^64 - 1", code="invalid_field_type"
        )
    if 0 < span.end_ns < span.start_ns:
        raise ParseError("a span must not end before it starts", code="invalid_field_type")


def _parent_id(span: Span) -> str:
    """The id of the span that holds it; what is no id holds nothing."""
    found = span.parent_id.lower()
    return found if _SPAN_ID.fullmatch(found) and found.strip("0") else ""


def _named_set(span: Span) -> str | None:
    named = span.resource.get(TRACE_SET)
    if named is None:
        return None
    if not isinstance(named, str) or not is_set_name(named):
        raise ParseError(
            f"{TRACE_SET} must be 1 to 100 letters, digits, '_', '-' or '.'",
            code="invalid_field_type",
        )
    return named


def _set_of_service(span: Span, redactor: Redactor) -> str:
    service = span.resource.get(_SERVICE)
    text = redactor.text(service) if isinstance(service, str) else ""
    return set_name_of(text) or _UNKNOWN


def _time(nanoseconds: int) -> int:
    """A time that the store can hold; one that cannot be is unknown."""
    return nanoseconds if 0 < nanoseconds <= _MAX_TIME else 0


def _told(rejected: Counter[str]) -> str:
    return "; ".join(_reasons(rejected))


def _reasons(rejected: Counter[str]) -> Iterator[str]:
    for reason, count in rejected.most_common(5):
        yield f"{count:,} span(s): {reason}"
