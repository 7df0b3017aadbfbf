"""The body of a request with spans, in either of the protocol's encodings."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.contracts.importers.otel_spans import GROUPS, SCOPES
from steelyard.contracts.otlp.answers import Encoding
from steelyard.contracts.otlp.wire import MAX_VALUES, read_batch, too_many_values
from steelyard.errors import ParseError
from steelyard.formats.json_outline import most_values
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue

_SPANS = ("spans",)


def batch_of(data: bytes, encoding: Encoding) -> JsonObject:
    """The batch that a body holds; raises ParseError where it is none."""
    if encoding == "protobuf":
        return read_batch(data)
    if most_values(data) > MAX_VALUES:
        raise too_many_values()
    value = parse_json(data)
    if not isinstance(value, dict):
        raise _wrong("the batch must be an object")
    for group in _listed(value, GROUPS):
        for scope in _listed(group, SCOPES):
            for _ in _listed(scope, _SPANS):
                pass
    return value


def _listed(row: JsonObject, names: tuple[str, ...]) -> Iterator[JsonObject]:
    """The objects of a list; it may be absent, but nothing else may stand in its place."""
    for name in names:
        found: JsonValue = row.get(name)
        if found is None:
            continue
        if not isinstance(found, list):
            raise _wrong(f"'{name}' must be an array")
        for item in found:
            if not isinstance(item, dict):
                raise _wrong(f"'{name}' must hold objects")
            yield item


def _wrong(message: str) -> ParseError:
    return ParseError(f"this is no batch of spans: {message}", code="invalid_field_type")
