"""Batches in protobuf, compared with what the protocol's own library makes of them."""

from __future__ import annotations

import base64
import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from steelyard.contracts.otlp.wire import MAX_DEPTH, read_batch
from steelyard.errors import ParseError
from strategies.effort import examples

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
TIMES = st.integers(0, 2**64 - 1)
LEAVES: st.SearchStrategy[AnyValue] = st.one_of(
    st.builds(AnyValue, string_value=TEXTS),
    st.builds(AnyValue, bool_value=st.booleans()),
    st.builds(AnyValue, int_value=NUMBERS),
    st.builds(AnyValue, double_value=st.floats()),
    st.builds(AnyValue, bytes_value=st.binary(max_size=9)),
    st.just(AnyValue()),
)


def listed(values: list[AnyValue]) -> AnyValue:
    made = AnyValue()
    made.array_value.values.extend(values)
    return made


def mapped(values: dict[str, AnyValue]) -> AnyValue:
    made = AnyValue()
    made.kvlist_value.values.extend(KeyValue(key=key, value=one) for key, one in values.items())
    return made


VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(listed, st.lists(inner, max_size=3)),
        st.builds(mapped, st.dictionaries(TEXTS, inner, max_size=3)),
    ),
    max_leaves=6,
)
ATTRIBUTES = st.lists(st.builds(KeyValue, key=TEXTS, value=VALUES), max_size=3)
SPANS = st.builds(
    Span,
    trace_id=st.binary(max_size=20),
    span_id=st.binary(max_size=10),
    trace_state=TEXTS,
    parent_span_id=st.binary(max_size=8),
    flags=st.integers(0, 2**32 - 1),
    name=TEXTS,
    kind=st.integers(0, 5),
    start_time_unix_nano=TIMES,
    end_time_unix_nano=TIMES,
    attributes=ATTRIBUTES,
    dropped_attributes_count=st.integers(0, 9),
    events=st.lists(
        st.builds(Span.Event, time_unix_nano=TIMES, name=TEXTS, attributes=ATTRIBUTES), max_size=2
    ),
    links=st.lists(st.builds(Span.Link, trace_id=st.binary(max_size=16)), max_size=1),
    status=st.builds(Status, message=TEXTS, code=st.integers(0, 2)),
)
BATCHES = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=st.builds(Resource, attributes=ATTRIBUTES),
            scope_spans=st.lists(
                st.builds(ScopeSpans, spans=st.lists(SPANS, max_size=2)), max_size=2
            ),
            schema_url=TEXTS,
        ),
        max_size=2,
    ),
)


def value(one: AnyValue) -> dict[str, Any]:
    kind = one.WhichOneof("value")
    if kind is None:
        return {}
    inner: Any = getattr(one, kind)
    if kind == "array_value":
        inner = {"values": [value(item) for item in inner.values]} if inner.values else {}
    elif kind == "kvlist_value":
        inner = {"values": attributes(inner.values)} if inner.values else {}
    elif kind == "bytes_value":
        inner = base64.b64encode(inner).decode()
    elif kind == "double_value" and not math.isfinite(inner):
        inner = str(inner)
    names = {
        "string": "stringValue",
        "bool": "boolValue",
        "int": "intValue",
        "bytes": "bytesValue",
    }
    names |= {"double": "doubleValue", "array": "arrayValue", "kvlist": "kvlistValue"}
    return {names[kind.removesuffix("_value")]: inner}


def attributes(listed: Any) -> list[dict[str, Any]]:
    return [filled({"key": one.key, "value": value(one.value)}, "value") for one in listed]


def filled(row: dict[str, Any], *kept: str) -> dict[str, Any]:
    """A row without what protobuf leaves out because it is empty."""
    return {name: one for name, one in row.items() if name in kept or one not in ("", 0, [], {})}


def expected(batch: ExportTraceServiceRequest) -> dict[str, Any]:
    """The batch, read with the library."""
    return filled({"resourceSpans": [group(one) for one in batch.resource_spans]})


def group(one: ResourceSpans) -> dict[str, Any]:
    scopes = [filled({"spans": [span(each) for each in scope.spans]}) for scope in one.scope_spans]
    resource = filled({"attributes": attributes(one.resource.attributes)})
    return filled({"resource": resource, "scopeSpans": scopes}, "resource")


def span(one: Span) -> dict[str, Any]:
    events = [
        filled({"name": event.name, "attributes": attributes(event.attributes)})
        for event in one.events
    ]
    return filled(
        {
            "traceId": one.trace_id.hex(),
            "spanId": one.span_id.hex(),
            "parentSpanId": one.parent_span_id.hex(),
            "name": one.name,
            "startTimeUnixNano": one.start_time_unix_nano,
            "endTimeUnixNano": one.end_time_unix_nano,
            "attributes": attributes(one.attributes),
            "events": events,
            "status": filled({"message": one.status.message, "code": one.status.code}),
        },
        "status",
    )


@settings(max_examples=examples(300), deadline=None)
@given(BATCHES)
def test_a_batch_is_read_as_the_library_reads_it(batch: ExportTraceServiceRequest) -> None:
    found = read_batch(batch.SerializeToString())

    # Fields that are empty are written by some, and left out by others.
    assert str(found) == str(expected(batch))


@settings(max_examples=examples(300), deadline=None)
@given(BATCHES, st.data())
def test_bytes_that_were_changed_are_read_or_refused(
    batch: ExportTraceServiceRequest, data: st.DataObject
) -> None:
    sent = bytearray(batch.SerializeToString() or b"\x0a\x00")
    for _ in range(data.draw(st.integers(1, 4))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    with suppress(ParseError):
        read_batch(bytes(sent))


@settings(max_examples=examples(500), deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_batch(data)
    except ParseError:
        return
    ExportTraceServiceRequest.FromString(data)


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"\x0a", "ends within a number"),
        (b"\x0a\x05abc", "longer than the message"),
        (b"\x0a\x02\x12\x05", "longer than the message"),
        (b"\xff" * 11, "more than ten bytes"),
        (b"\x00\x01", "the number 0"),
        (b"\x80\x80\x80\x80\x10\x00", "the number 536870912"),
        (b"\x0b", "wire type 3"),
        (b"\x0a\x08\x12\x06\x12\x04\x2a\x02\xff\xff", "not UTF-8"),
    ],
)
def test_what_is_wrong_is_told(sent: bytes, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        read_batch(sent)


def test_unknown_fields_of_every_type_are_skipped() -> None:
    unknown = b"\x98\x06\x01" + b"\x99\x06" + b"x" * 8 + b"\x9a\x06\x01x" + b"\x9d\x06" + b"x" * 4

    assert read_batch(unknown) == {}


def within(field: int, data: bytes) -> bytes:
    """A message as a field of another one."""
    size = len(data)
    length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
    return bytes([field << 3 | 2]) + length + data


def test_values_are_not_nested_without_end() -> None:
    value = b"\x0a\x01x"
    for _ in range(MAX_DEPTH // 2 + 1):
        value = within(5, within(1, value))  # a value in an array
    attribute = within(1, b"\x0a\x01k" + within(2, value))

    with pytest.raises(ParseError, match="nested deeper"):
        read_batch(within(1, within(1, attribute)))
