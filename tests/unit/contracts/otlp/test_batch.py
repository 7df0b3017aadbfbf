"""Bodies of requests with spans."""

from __future__ import annotations

import json

import pytest

from fakes.otel_spans import export, span
from steelyard.contracts.otlp import batch, wire
from steelyard.contracts.otlp.answers import Encoding
from steelyard.contracts.otlp.batch import batch_of
from steelyard.errors import ParseError


def test_a_batch_is_read_from_json_and_from_protobuf() -> None:
    sent = export(span({"a": 1}))

    assert batch_of(json.dumps(sent).encode(), "json") == sent
    assert batch_of(b"", "protobuf") == {}
    assert batch_of(b"{}", "json") == {}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b'{"resourceSpans": 5}',
        b'{"resourceSpans": [5]}',
        b'{"resource_spans": {}}',
        b'{"resourceSpans": [{"scopeSpans": "x"}]}',
        b'{"resourceSpans": [{"scopeSpans": [[]]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [null]}]}]}',
        b'{"resourceSpans": ' + b"[" * 500 + b"]" * 500 + b"}",
    ],
)
def test_what_is_no_batch_is_refused(body: bytes) -> None:
    with pytest.raises(ParseError):
        batch_of(body, "json")


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b'{"resourceSpans":[' + b"{}," * 6 + b"{}]}", "json"),
        (b"\x0a\x00" * 11, "protobuf"),
    ],
)
def test_a_batch_of_too_many_values_is_refused(
    body: bytes, encoding: Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (batch, wire):
        monkeypatch.setattr(module, "MAX_VALUES", 10)

    with pytest.raises(ParseError, match="the batch has more than"):
        batch_of(body, encoding)
