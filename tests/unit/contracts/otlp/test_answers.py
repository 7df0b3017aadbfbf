"""Answers of the protocol, read by its own library."""

from __future__ import annotations

import json

import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from steelyard.contracts.otlp.answers import refused, taken


def test_a_batch_that_was_taken_whole_has_an_empty_answer() -> None:
    assert taken("protobuf") == b""
    assert json.loads(taken("json")) == {}


@pytest.mark.parametrize("count", [0, 1, 127, 128, 300, 2**40])
def test_rejected_spans_are_counted_in_a_partial_success(count: int) -> None:
    read = ExportTraceServiceResponse.FromString(taken("protobuf", count, "not größer"))

    assert read.partial_success.rejected_spans == count
    assert read.partial_success.error_message == "not größer"
    assert json.loads(taken("json", count, "why")) == {
        "partialSuccess": {"rejectedSpans": str(count), "errorMessage": "why"}
    }


@pytest.mark.parametrize(("status", "code"), [(400, 3), (401, 16), (429, 8), (503, 14), (418, 2)])
def test_an_error_is_a_status(status: int, code: int) -> None:
    read = Status.FromString(refused("protobuf", status, "what is wrong"))

    assert (read.code, read.message) == (code, "what is wrong")
    assert json.loads(refused("json", status, "x")) == {"code": code, "message": "x"}
