"""Trace sets: what has arrived, and from there a queue for people or a run of a judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.api.resources.run_changes import queued_run
from steelyard.errors import RequestError
from steelyard.model.trace_set import TraceSet
from steelyard.usecases.judges.judge_traces import judge_traces
from steelyard.usecases.registry.look_up import list_definitions
from steelyard.usecases.runs.posted_runs import require_reference
from steelyard.usecases.traces.assembled_traces import (
    AssembledTrace,
    list_trace_sets,
    list_traces,
    show_trace_set,
)
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.rendering import query_text, segment
from steelyard.web.review.reviewer import REVIEW

_SHOWN = 100
_SETS = Crumb("Trace sets", "/trace-sets")


class TracesQuery(msgspec.Struct, frozen=True):
    """Which traces of a set are shown."""

    cursor: str | None = None


class TraceRow(NamedTuple):
    """A trace as the list shows it."""

    trace_id: str
    record_id: str
    model: str
    turns: int
    calls: int
    latency_ms: int | None
    received_at: str
    note: str
    """Why it failed, is left out, or may be incomplete; or what is no part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSetsContext(Context):
    """Every trace set."""

    template: ClassVar[str] = "trace_sets.html"
    sets: Sequence[TraceSet]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSetContext(Context):
    """The traces of one set."""

    template: ClassVar[str] = "trace_set.html"
    found: TraceSet
    traces: Sequence[TraceRow]
    next: str
    """The address of the next traces; empty on the last page."""
    rubrics: Sequence[str]
    problem: str = ""


def _list(visit: Visit[PlainQuery]) -> Context:
    sets = list_trace_sets(visit.project.trace_ports())
    return TraceSetsContext(title="Trace sets", crumbs=(REVIEW,), sets=sets)


def _show(visit: Visit[TracesQuery]) -> TraceSetContext:
    ports, name = visit.project.trace_ports(), visit.path["trace_set"]
    page = list_traces(ports, name, cursor=visit.query.cursor, limit=_SHOWN)
    more = query_text({"cursor": page.next_cursor})
    rubrics = list_definitions(visit.project.registry_ports(), "rubric")
    return TraceSetContext(
        title=name,
        crumbs=(REVIEW, _SETS),
        found=show_trace_set(ports, name),
        traces=[_row(one) for one in page.traces],
        next=f"/trace-sets/{segment(name)}{more}" if page.next_cursor else "",
        rubrics=[
            f"rubric/{one.name}" for one in rubrics if one.status not in {"broken", "archived"}
        ],
    )


def _row(one: AssembledTrace) -> TraceRow:
    row, trace = one.row or {}, one.trace
    messages = trace.messages if trace else ()
    latency = trace.latency_ms if trace else None
    late = "" if one.has_root else "its root span has not arrived"
    return TraceRow(
        trace_id=one.trace_id,
        record_id=str(row.get("record_id") or ""),
        model=(trace.model or "") if trace else "",
        turns=sum(message.role == "assistant" for message in messages),
        calls=sum(len(message.tool_calls) for message in messages),
        latency_ms=None if latency is None else round(latency),
        received_at=one.received_at,
        note=one.left_out
        or str(row.get("message") or "")
        or "; ".join((late, *one.notes) if late else one.notes),
    )


def _judge(visit: Visit[TracesQuery]) -> Context | Response:
    name, rubric = visit.path["trace_set"], visit.form.get("rubric", "")
    traces, runs = visit.project.trace_ports(), visit.project.run_ports()
    try:
        require_reference("rubric", rubric)
        show_trace_set(traces, name)
        made = queued_run(lambda: judge_traces(traces, runs, name, rubric, caller=visit.caller))
    except RequestError as error:
        return replace(_show(visit), problem=visit.message(error), status=status_of(error))
    return RedirectResponse(f"/runs/{segment(made.run.run_id)}", 303)


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/trace-sets", section="review", scope="runs:read", show=_list),
    WebPage(
        path="/trace-sets/{trace_set}",
        section="review",
        scope="runs:read",
        show=_show,
        submit=_judge,
        submit_scope="runs:write",
        query=TracesQuery,
    ),
)
