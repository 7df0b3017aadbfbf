"""Spans as they are stored."""

from __future__ import annotations

from typing import Any

from fakes.otel_spans import event, export, span
from steelyard.contracts.importers.otel_rows import span_row, stored_span
from steelyard.contracts.importers.otel_spans import spans_of
from steelyard.model.trace_set import StoredSpan


def test_a_span_is_read_back_as_it_was() -> None:
    failed: dict[str, Any] = {"status": {"code": 2, "message": "no"}}
    full = span({"a": [1, {"b": "c"}]}, parent="2", events=[event("said", a=1)], **failed)
    for sent in spans_of(export(full, span({}, span_id="3"))):
        kept = StoredSpan(
            *(sent.span_id, sent.parent_id, sent.start_ns, sent.end_ns), span_row(sent)
        )

        assert stored_span(sent.trace_id, kept) == sent


def test_parts_that_redaction_has_replaced_are_left_out() -> None:
    kept = StoredSpan("1", "", 1, 2, {"name": "n", "attributes": "[redacted:x]", "events": "x"})

    found = stored_span("t", kept)
    assert (found.attributes, found.events, found.resource) == ({}, (), {})
