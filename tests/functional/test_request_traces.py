"""Traces of requests, sent to a real collector."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from servers.otlp_collector import collecting
from servers.serve_process import serving
from steelyard.api.tracing import NoTracing, tracing_of

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_request_is_a_span_of_the_trace_that_it_names(tmp_path: Path) -> None:
    with collecting() as collector:
        env = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
        with serving(tmp_path, "--no-worker", env=env) as server:
            headers = {"traceparent": f"00-{TRACE}-{SPAN}-01", "x-request-id": "traced"}
            httpx.get(f"{server.url}/v1/runs/run_1?q=secret", headers=headers)
            httpx.get(f"{server.url}/healthz", headers={"traceparent": "nonsense"})
            server.process.terminate()
            assert server.process.wait(20) == 0

    shown, alone = collector.spans
    assert (shown.name, shown.service) == ("GET /v1/runs/{run_id}", "steelyard")
    assert (shown.trace_id, shown.parent_id) == (TRACE, SPAN)
    assert shown.attributes == {
        "http.request.method": "GET",
        "http.route": "/v1/runs/{run_id}",
        "http.response.status_code": 400,
        "url.path": "/v1/runs/run_1",
        "steelyard.request_id": "traced",
    }
    assert alone.parent_id == ""


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"},
        {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"},
    ],
    ids=["unset", "none", "disabled"],
)
def test_nothing_is_traced_unless_it_is_asked_for(environ: dict[str, str]) -> None:
    assert isinstance(tracing_of(environ), NoTracing)


def test_nothing_of_opentelemetry_is_loaded_unless_it_is_asked_for() -> None:
    code = "import steelyard.server, sys; print([n for n in sys.modules if 'opentelemetry' in n])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert done.stdout.strip() == b"[]"
