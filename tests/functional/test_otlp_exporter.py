"""Spans from OpenTelemetry's own SDK and exporter, received by a real server."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from servers.service import running
from steelyard.project import Project, open_project
from steelyard.usecases.traces.assembled_traces import every_trace

pytestmark = pytest.mark.usefixtures("both_stores")
ROOT = Path(__file__).parents[2]
EMAIL = "jo.smith@example.org"


def send(url: str, traces: int, calls: int, compression: Compression) -> None:
    """Agents that call a model, one trace each."""
    resource = Resource.create({"service.name": "agent", "user": EMAIL})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    exporter = OTLPSpanExporter(f"{url}/v1/otlp/v1/traces", compression=compression)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=20_000))
    tracer = provider.get_tracer("test")
    for number in range(traces):
        agent = {"gen_ai.operation.name": "invoke_agent", "session.id": f"s-{number % 10}"}
        with tracer.start_as_current_span("agent", attributes=agent):
            for call in range(calls):
                chat = {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m-1",
                    "gen_ai.prompt": f"I am {EMAIL}; say {call}.",
                    "gen_ai.completion": f"{number} {call}",
                }
                with tracer.start_as_current_span("chat", attributes=chat):
                    pass
    assert provider.force_flush()
    provider.shutdown()


def check(project: Project, traces: int, calls: int) -> None:
    """Everything has arrived once, and nothing personal was written."""
    (found,) = project.trace_ports().traces.sets()
    assert (found.name, found.traces, found.spans) == ("agent", traces, traces * (calls + 1))
    ids: Counter[tuple[str, str]] = Counter()
    for trace in project.trace_ports().traces.all("agent"):
        ids.update((trace.trace_id, span.span_id) for span in trace.spans)
        said = {str(span.row["name"]) for span in trace.spans}
        assert said == {"agent", "chat"}
    assert len(ids) == traces * (calls + 1)
    assert set(ids.values()) == {1}
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    assert not [path for path in files if EMAIL.encode() in path.read_bytes()]


GENAI: dict[str, str] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt": "When do you open?",
    "gen_ai.completion": "At nine.",
}
OPENINFERENCE: dict[str, str] = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "m-1",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": "When do you open?",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "At nine.",
}


def test_the_same_talk_is_the_same_trace_in_both_conventions(tmp_path: Path) -> None:
    with open_project(tmp_path) as project, running(project) as url:
        for name, attributes in (("genai", GENAI), ("openinference", OPENINFERENCE)):
            provider = TracerProvider(
                resource=Resource.create({"service.name": name}), shutdown_on_exit=False
            )
            exporter = OTLPSpanExporter(f"{url}/v1/otlp/v1/traces")
            provider.add_span_processor(BatchSpanProcessor(exporter))
            with provider.get_tracer("test").start_as_current_span("chat", attributes=attributes):
                pass
            assert provider.force_flush()
            provider.shutdown()
        traces = [
            found.trace
            for name in ("genai", "openinference")
            for found in every_trace(project.trace_ports(), name)
        ]

    said = [[(one.role, one.text) for one in trace.messages] for trace in traces if trace]
    assert said == [[("user", "When do you open?"), ("assistant", "At nine.")]] * 2


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_spans_of_the_sdk_arrive_once(tmp_path: Path, compression: Compression) -> None:
    with open_project(tmp_path) as project:
        with running(project) as url:
            send(url, 30, 4, compression)
        check(project, 30, 4)


def test_the_example_of_the_docs_sends_a_trace(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with open_project(tmp_path) as project, running(project) as url:
        exec(example.replace("http://127.0.0.1:8765", url), {})
        (found,) = every_trace(project.trace_ports(), "support-agent")

    assert found.trace is not None
    assert [one.text for one in found.trace.messages] == [
        "Can I return it?",
        "Yes, within 14 days.",
    ]


@pytest.mark.trials
def test_ten_thousand_spans_arrive_once(tmp_path: Path) -> None:
    with open_project(tmp_path) as project:
        with running(project) as url:
            send(url, 1000, 9, Compression.Gzip)
        check(project, 1000, 9)
