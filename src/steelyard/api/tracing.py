"""Traces of requests for OpenTelemetry, where its usual variables ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

from steelyard.errors import ConfigError

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_EXPORTER = "OTEL_TRACES_EXPORTER"
_PACKAGE = "opentelemetry.exporter.otlp.proto.http"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRequest:
    """What a span says of a request."""

    method: str
    route: str
    path: str
    status: int
    request_id: str


class RequestSpan(Protocol):
    """One request that is being served."""

    def end(self, request: ServedRequest) -> None:
        """It has been served."""
        ...


class RequestTracing(Protocol):
    """Where the requests of a server are traced to."""

    def begin(self, headers: Mapping[str, str]) -> RequestSpan | None:
        """A request begins, as a part of the trace that its headers name; None: not traced."""
        ...

    def close(self) -> None:
        """Send what is left."""
        ...


class NoTracing:
    """Traces nothing."""

    def begin(self, headers: Mapping[str, str]) -> RequestSpan | None:  # noqa: ARG002 - a port
        """Nothing."""
        return None

    def close(self) -> None:
        """Nothing."""


def tracing_of(environ: Mapping[str, str]) -> RequestTracing:
    """The tracing that the environment asks for; nothing is imported where it asks for none."""
    exporters = environ.get(_EXPORTER, "otlp" if any(map(environ.get, _ENDPOINTS)) else "none")
    is_off = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or "otlp" not in exporters.split(","):
        return NoTracing()
    try:
        is_there = find_spec(_PACKAGE) is not None
    except ModuleNotFoundError:
        is_there = False
    if not is_there:
        raise ConfigError(
            "the environment asks for OpenTelemetry traces, whose packages are missing; install "
            f"steelyard[otel], or set {_EXPORTER}=none"
        )
    return _SentTracing(environ)


class _SentTracing:
    """Sends spans with OTLP over HTTP, in batches and from a thread of its own."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # Loaded only where traces are asked for.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415
            TraceContextTextMapPropagator,
        )

        named = {} if environ.get("OTEL_SERVICE_NAME") else {"service.name": "steelyard"}
        resource = Resource.create({**named, "service.version": version("steelyard")})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("steelyard", version("steelyard"))
        self._propagator = TraceContextTextMapPropagator()

    def begin(self, headers: Mapping[str, str]) -> RequestSpan:
        """A span of the kind of servers."""
        from opentelemetry.trace import SpanKind  # noqa: PLC0415

        names = ("traceparent", "tracestate")
        carrier = {name: headers[name] for name in names if name in headers}
        context = self._propagator.extract(carrier)
        return _Span(self._tracer.start_span("request", context, kind=SpanKind.SERVER))

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


class _Span:
    def __init__(self, span: Any) -> None:
        self._span = span

    def end(self, request: ServedRequest) -> None:
        """Name it by its route, which is known by now."""
        from opentelemetry.trace import Status, StatusCode  # noqa: PLC0415

        self._span.update_name(f"{request.method} {request.route}")
        self._span.set_attributes(
            {
                "http.request.method": request.method,
                "http.route": request.route,
                "http.response.status_code": request.status,
                "url.path": request.path,
                "steelyard.request_id": request.request_id,
            }
        )
        if request.status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()
