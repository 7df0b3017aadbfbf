"""Traces of a set, each put together from its spans: messages, tool calls, usage, timing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.contracts.importers.otel_rows import stored_span
from steelyard.contracts.importers.otel_traces import conversation_of, import_trace
from steelyard.contracts.importers.source_row import Import, Imported
from steelyard.contracts.trace.reader import read_trace
from steelyard.errors import NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.trace import Trace
from steelyard.model.trace_set import WHOLE, StoredTrace, TraceSet
from steelyard.usecases.results.cursors import cursor_of, position_at, require_page
from steelyard.usecases.traces.ports import TracePorts


class AssembledTrace(NamedTuple):
    """What a trace says; or why it cannot be reviewed."""

    trace_id: str
    received_at: str
    spans: int
    has_root: bool
    """Whether the span has arrived that no other one holds; others may be on their way."""
    conversation_id: str | None
    row: JsonObject | None
    """As a row of recorded responses: `record_id`, `candidate_name`, `trace`, …"""
    trace: Trace | None
    left_out: str | None
    """Why it cannot be reviewed and judged, where that is so."""
    notes: tuple[str, ...] = ()
    """What its spans hold that is no part of the trace."""


class TracePage(NamedTuple):
    """A part of the traces of a set."""

    traces: list[AssembledTrace]
    next_cursor: str | None


def list_trace_sets(ports: TracePorts) -> list[TraceSet]:
    """Every set by name."""
    return list(ports.traces.sets())


def show_trace_set(ports: TracePorts, name: str) -> TraceSet:
    """One set."""
    return ports.traces.find_set(name)


def list_traces(ports: TracePorts, name: str, *, cursor: str | None, limit: int) -> TracePage:
    """The traces of a set, in the order of their arrival."""
    require_page(limit)
    ports.traces.find_set(name)
    after = position_at(cursor, name, int) if cursor is not None else 0
    found, is_last = ports.traces.page(name, after, limit)
    more = None if is_last else cursor_of(found[-1].number, name)
    return TracePage([assemble(one) for one in found], more)


def show_trace(ports: TracePorts, name: str, trace_id: str) -> AssembledTrace:
    """One trace of a set."""
    ports.traces.find_set(name)
    return assemble(ports.traces.find(name, trace_id.lower()))


def every_trace(ports: TracePorts, name: str) -> Iterator[AssembledTrace]:
    """The traces of a set in the order of their arrival; a few at a time are in memory."""
    found = ports.traces.find_set(name)
    if not found.traces:
        raise NotFoundError(f"the trace set '{name}' has no traces yet")
    return (assemble(stored) for stored in ports.traces.all(name))


def assemble(stored: StoredTrace) -> AssembledTrace:
    """A trace, put together from what is stored of it."""
    whole = next((span.row for span in stored.spans if span.span_id == WHOLE), None)
    if whole is not None:
        return _assembled(stored, Imported(whole), None, has_root=True)
    spans = [stored_span(stored.trace_id, span) for span in stored.spans]
    has_root = any(not span.parent_id for span in spans)
    found = import_trace(spans, {})
    return _assembled(stored, found, conversation_of(spans), has_root=has_root)


def _assembled(
    stored: StoredTrace, found: Import, conversation_id: str | None, *, has_root: bool
) -> AssembledTrace:
    made = AssembledTrace(
        trace_id=stored.trace_id,
        received_at=stored.received_at,
        spans=len(stored.spans),
        has_root=has_root,
        conversation_id=conversation_id,
        row=None,
        trace=None,
        left_out=None,
    )
    if not isinstance(found, Imported):
        return made._replace(left_out=found.reason)
    trace, findings = read_trace(found.row.get("trace"))
    if trace is None:
        return made._replace(left_out=next(one.message for one in findings if one.is_error))
    notes = tuple(change.message for change in found.changes)
    return made._replace(row=found.row, trace=trace, notes=notes)
