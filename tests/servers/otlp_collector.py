"""A collector of OpenTelemetry: takes spans over OTLP/HTTP and keeps them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class KeptSpan(NamedTuple):
    """A span as it was sent."""

    name: str
    trace_id: str
    parent_id: str
    attributes: dict[str, str | int]
    service: str


class OtlpCollector:
    """What was sent to it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[KeptSpan] = []

    def keep(self, data: bytes) -> None:
        """Read one request."""
        request = ExportTraceServiceRequest.FromString(data)
        for resource in request.resource_spans:
            named = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes = {
                        one.key: one.value.string_value or one.value.int_value
                        for one in span.attributes
                    }
                    self.spans.append(
                        KeptSpan(
                            name=span.name,
                            trace_id=span.trace_id.hex(),
                            parent_id=span.parent_span_id.hex(),
                            attributes=attributes,
                            service=named["service.name"],
                        )
                    )


@contextmanager
def collecting() -> Generator[OtlpCollector]:
    """A collector on a free port."""

    class Door(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                data = gzip.decompress(data)
            assert self.path == "/v1/traces"
            collector.keep(data)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        collector = OtlpCollector(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
