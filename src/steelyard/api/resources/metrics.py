"""Figures for Prometheus, in its text format."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.responses import Response

from steelyard.api.call import Call, NoQuery
from steelyard.api.measurements import BOUNDS, Measurements
from steelyard.api.operation import Operation
from steelyard.model.run import TERMINAL
from steelyard.results.activity import Activity

_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_STARTED_AT = time.time()
_STATUSES = ("queued", "validating", "running", "retrying", "finalizing", *sorted(TERMINAL))


def _metrics(call: Call[NoQuery, None]) -> Response:
    activity = call.project.condition.activity()
    lines = (
        *_request_lines(call.served.measurements),
        *_work_lines(activity, call.project.clock.now()),
        *_process_lines(),
    )
    return Response("\n".join(lines) + "\n", media_type=_MEDIA_TYPE)


def _request_lines(measured: Measurements) -> Iterator[str]:
    name = "steelyard_http_requests_total"
    yield from _about(name, "counter", "Requests by method, route template and status.")
    for method, route, status, count in measured.requests():
        labels = {"method": method, "route": route, "status": str(status)}
        yield _sample(name, count, labels)
    yield from _about("steelyard_http_requests_in_flight", "gauge", "Requests being served.")
    yield _sample("steelyard_http_requests_in_flight", measured.in_flight)
    name = "steelyard_http_request_duration_seconds"
    yield from _about(name, "histogram", "How long requests take.")
    for method, route, found in measured.latencies():
        labels, below = {"method": method, "route": route}, 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), found.buckets, strict=True):
            below += count
            yield _sample(f"{name}_bucket", below, {**labels, "le": bound})
        yield _sample(f"{name}_sum", round(found.total_s, 6), labels)
        yield _sample(f"{name}_count", below, labels)


def _work_lines(activity: Activity, now: datetime) -> Iterator[str]:
    yield from _about("steelyard_runs", "gauge", "Runs by status.")
    for status in _STATUSES:
        yield _sample("steelyard_runs", activity.runs.get(status, 0), {"status": status})
    age = 0.0
    if activity.oldest_queued_at:
        age = (now - datetime.fromisoformat(activity.oldest_queued_at)).total_seconds()
    yield from _gauges(
        ("steelyard_queued_runs", "Runs that wait for a worker.", activity.queued),
        ("steelyard_oldest_queued_seconds", "How long the first of them waits.", max(0.0, age)),
        ("steelyard_unfinished_run_rows", "Rows done of unfinished runs.", activity.rows_done),
        ("steelyard_executing_processes", "Processes that execute a run.", activity.executing),
    )


def _process_lines() -> Iterator[str]:
    yield from _about("steelyard_build_info", "gauge", "What runs here.")
    labels = {"version": version("steelyard"), "python": platform.python_version()}
    yield _sample("steelyard_build_info", 1, labels)
    name = "process_cpu_seconds_total"
    yield from _about(name, "counter", "CPU time of the server process.")
    yield _sample(name, time.process_time())
    yield from _gauges(
        ("process_start_time_seconds", "When it started, in Unix time.", _STARTED_AT)
    )
    memory = _resident_bytes()
    if memory is not None:
        name = "process_resident_memory_bytes"
        yield from _gauges((name, "Memory of the server process.", memory))


def _resident_bytes() -> int | None:
    """On Linux as it is now, elsewhere as it was at most; Windows does not say."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return _most_resident_bytes()
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _most_resident_bytes() -> int | None:
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _gauges(*found: tuple[str, str, float]) -> Iterator[str]:
    for name, meaning, value in found:
        yield from _about(name, "gauge", meaning)
        yield _sample(name, value)


def _about(name: str, kind: str, meaning: str) -> Iterable[str]:
    return (f"# HELP {name} {meaning}", f"# TYPE {name} {kind}")


def _sample(name: str, value: float, labels: Mapping[str, str] | None = None) -> str:
    shown = ",".join(f'{key}="{text}"' for key, text in (labels or {}).items())
    return f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/metrics",
        summary="Figures for Prometheus.",
        scope="runs:read",
        handle=_metrics,
        answers={200: "text/plain"},
    ),
)
