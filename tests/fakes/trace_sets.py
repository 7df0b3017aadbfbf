"""Projects with trace sets, and batches of spans for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fakes.otel_spans import attributes, span
from steelyard.project import Project, open_project
from steelyard.usecases.traces.ports import TracePorts

CALL: dict[str, Any] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt": "Say a word.",
    "gen_ai.completion": "A word.",
}
AGENT: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent"}


def hexadecimal(number: int, digits: int) -> str:
    """An id."""
    return f"{number:0{digits}x}"


def sent_span(
    number_of_trace: int, number: int, named: dict[str, Any] | None = None, **more: Any
) -> Any:
    """A span with ids as the protocol has them; the first of a trace holds the others."""
    settings: dict[str, Any] = {
        "trace": hexadecimal(number_of_trace, 32),
        "span_id": hexadecimal(number, 16),
        "parent": "" if number == 1 else hexadecimal(1, 16),
        "start": 10**18 + number,
        **more,
    }
    return span(CALL if named is None else named, **settings)


def batch(*spans: Any, **resource: Any) -> dict[str, Any]:
    """A batch of one resource; `__` in the name of an attribute stands for a dot."""
    named = {name.replace("__", "."): value for name, value in resource.items()}
    about = {"attributes": attributes({"service.name": "desk", **named})}
    return {"resourceSpans": [{"resource": about, "scopeSpans": [{"spans": list(spans)}]}]}


def trace_project(root: Path) -> Project:
    """A project that redacts as usual."""
    root.mkdir(parents=True, exist_ok=True)
    return open_project(root)


def trace_ports(root: Path) -> TracePorts:
    """The ports of its trace sets."""
    return trace_project(root).trace_ports()


def write_lines(path: Path, *rows: Any) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
