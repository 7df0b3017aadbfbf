"""Reads a batch of spans from protobuf, as the same object that the protocol's JSON has.

Only the fields that we use are kept. Others are skipped, whatever they hold, so that a newer
version of the protocol can be read.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from steelyard.errors import ParseError
from steelyard.formats.json_fields import items
from steelyard.model.json_value import JsonObject, JsonValue

MAX_DEPTH = 100
"""Messages within messages; protobuf's own libraries have the same limit."""
MAX_VALUES = 3_000_000
"""The most messages of a batch, or values in JSON: an empty one takes two bytes here, and many
times that in memory."""
_VARINT, _FIXED64, _BYTES, _GROUP, _GROUP_END, _FIXED32 = range(6)
_MAX_VARINT = 10
_DOUBLE = struct.Struct("<d")


class _Field(NamedTuple):
    name: str
    wire: int
    read: Callable[[bytes], JsonValue] | Callable[[int], JsonValue] | None = None
    """Makes the value of a scalar; None for a message."""
    message: str = ""
    is_list: bool = False


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _wrong("a text is not UTF-8") from None


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _double(data: bytes) -> JsonValue:
    (number,) = _DOUBLE.unpack(data)
    # JSON has no such numbers; the protocol writes them as texts.
    return number if math.isfinite(number) else str(number)


def _fixed(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _list(name: str, message: str) -> _Field:
    return _Field(name, _BYTES, message=message, is_list=True)


_ATTRIBUTES = _list("attributes", "KeyValue")
_MESSAGES: Mapping[str, Mapping[int, _Field]] = {
    "Request": {1: _list("resourceSpans", "ResourceSpans")},
    "ResourceSpans": {
        1: _Field("resource", _BYTES, message="Resource"),
        2: _list("scopeSpans", "ScopeSpans"),
    },
    "Resource": {1: _ATTRIBUTES},
    "ScopeSpans": {2: _list("spans", "Span")},
    "Span": {
        1: _Field("traceId", _BYTES, bytes.hex),
        2: _Field("spanId", _BYTES, bytes.hex),
        4: _Field("parentSpanId", _BYTES, bytes.hex),
        5: _Field("name", _BYTES, _text),
        7: _Field("startTimeUnixNano", _FIXED64, _fixed),
        8: _Field("endTimeUnixNano", _FIXED64, _fixed),
        9: _ATTRIBUTES,
        11: _list("events", "Event"),
        15: _Field("status", _BYTES, message="Status"),
    },
    "Event": {2: _Field("name", _BYTES, _text), 3: _ATTRIBUTES},
    "Status": {2: _Field("message", _BYTES, _text), 3: _Field("code", _VARINT, _signed)},
    "KeyValue": {
        1: _Field("key", _BYTES, _text),
        2: _Field("value", _BYTES, message="AnyValue"),
    },
    "AnyValue": {
        1: _Field("stringValue", _BYTES, _text),
        2: _Field("boolValue", _VARINT, bool),
        3: _Field("intValue", _VARINT, _signed),
        4: _Field("doubleValue", _FIXED64, _double),
        5: _Field("arrayValue", _BYTES, message="ArrayValue"),
        6: _Field("kvlistValue", _BYTES, message="KeyValueList"),
        7: _Field("bytesValue", _BYTES, _base64),
    },
    "ArrayValue": {1: _list("values", "AnyValue")},
    "KeyValueList": {1: _list("values", "KeyValue")},
}
_ONE_OF = "AnyValue"
"""The message of which only the last field counts."""


def read_batch(data: bytes) -> JsonObject:
    """An `ExportTraceServiceRequest`; raises ParseError where the bytes are none."""
    batch: JsonObject = {}
    _Reader(data).message("Request", len(data), batch, 0)
    return batch


class _Reader:
    """One pass over the bytes of a batch."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._messages = 0

    def message(self, kind: str, end: int, into: JsonObject, depth: int) -> None:
        """Read the fields up to a place; those of a message that came before are kept."""
        if depth > MAX_DEPTH:
            raise _wrong(f"messages are nested deeper than {MAX_DEPTH} levels")
        known = _MESSAGES[kind]
        while self._place < end:
            tag = self._varint(end)
            field = known.get(tag >> 3)
            if not 0 < tag >> 3 < 1 << 29:
                raise _wrong(f"a field has the number {tag >> 3}")
            if field is None or field.wire != tag & 7:
                self._skip(tag & 7, end)
                continue
            if kind == _ONE_OF:
                into.clear()
            if field.read is None:
                self._nested(field, end, into, depth)
            else:
                into[field.name] = field.read(self._scalar(field.wire, end))  # pyright: ignore[reportArgumentType] - each reads what its wire type has

    def _nested(self, field: _Field, end: int, into: JsonObject, depth: int) -> None:
        self._messages += 1
        if self._messages > MAX_VALUES:
            raise too_many_values()
        size = self._varint(end)
        inner_end = self._place + size
        if inner_end > end:
            raise _wrong("a field is longer than the message that holds it")
        found: JsonObject = {}
        if field.is_list:
            items(into.setdefault(field.name, [])).append(found)
        else:
            before = into.setdefault(field.name, found)
            assert isinstance(before, dict)
            found = before
        self.message(field.message, inner_end, found, depth + 1)

    def _scalar(self, wire: int, end: int) -> bytes | int:
        if wire == _VARINT:
            return self._varint(end)
        return self._bytes(8 if wire == _FIXED64 else self._varint(end), end)

    def _skip(self, wire: int, end: int) -> None:
        if wire == _VARINT:
            self._varint(end)
        elif wire in {_FIXED64, _FIXED32}:
            self._bytes(8 if wire == _FIXED64 else 4, end)
        elif wire == _BYTES:
            self._bytes(self._varint(end), end)
        else:
            raise _wrong(f"a field has the wire type {wire}, which this protocol does not use")

    def _bytes(self, size: int, end: int) -> bytes:
        start = self._place
        if start + size > end:
            raise _wrong("a field is longer than the message that holds it")
        self._place = start + size
        return self._data[start : start + size]

    def _varint(self, end: int) -> int:
        data, place = self._data, self._place
        if place < end and data[place] < 0x80:
            self._place = place + 1
            return data[place]
        number = 0
        for count in range(_MAX_VARINT):
            if place + count >= end:
                raise _wrong("the batch ends within a number")
            byte = data[place + count]
            number |= (byte & 0x7F) << 7 * count
            if byte < 0x80:
                self._place = place + count + 1
                return number & 0xFFFF_FFFF_FFFF_FFFF
        raise _wrong("a number has more than ten bytes")


def too_many_values() -> ParseError:
    """The error for a batch that holds more than any real one of its size."""
    return ParseError(f"the batch has more than {MAX_VALUES:,} values", code="payload_too_large")


def _wrong(message: str) -> ParseError:
    return ParseError(f"this is no batch of spans in protobuf: {message}", code="invalid_encoding")
