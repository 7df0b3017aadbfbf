"""Trace sets in the database: listed, and read as traces."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, Select, delete, func, select

from steelyard.errors import NotFoundError
from steelyard.model.audit import AuditEntry
from steelyard.model.trace_set import (
    AddedSpans,
    NewSpan,
    StoredPage,
    StoredSpan,
    StoredTrace,
    TraceSet,
)
from steelyard.store.audit_log import add_entry
from steelyard.store.database import empty_log, translated_errors
from steelyard.store.dialects import insert_new, overwrite_deleted, whole_sum
from steelyard.store.trace_tables import trace_sets, trace_spans, traces
from steelyard.store.traces.added_spans import add_spans

_READ_AT_ONCE = 50
MOST_AT_ONCE = 32 * 1024 * 1024
"""The bytes of traces that are read at once, unless a single one has more."""


class TraceStore:
    """The trace sets of a project; the database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def add(self, spans: Sequence[NewSpan], entry: Callable[[str], AuditEntry]) -> AddedSpans:
        """Store spans that are new, in one transaction, with the sets that they need.

        A set that is made is logged, with the entry of its name.
        """
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            added = add_spans(connection, spans, entry("").at)
            for name in added.trace_sets:
                _create(connection, entry(name))
            return added.counts

    def remove(self, name: str, entry: AuditEntry) -> bool:
        """Remove a set with its traces, overwrite them, and log it; False where there is none."""
        engine = self._engine()
        its_traces = select(traces.c.number).where(traces.c.trace_set == name)
        with translated_errors(engine), engine.begin() as connection:
            overwrite_deleted(connection)
            is_there = connection.execute(
                delete(trace_sets).where(trace_sets.c.name == name)
            ).rowcount
            if is_there:
                connection.execute(delete(trace_spans).where(trace_spans.c.trace.in_(its_traces)))
                connection.execute(delete(traces).where(traces.c.trace_set == name))
                add_entry(connection, entry)
        empty_log(engine)
        return bool(is_there)

    def sets(self) -> list[TraceSet]:
        """Every set by name."""
        return [_read_set(row) for row in self._rows(_SETS.order_by(trace_sets.c.name))]

    def find_set(self, name: str) -> TraceSet:
        """One set; an error where there is none."""
        rows = self._rows(_SETS.where(trace_sets.c.name == name))
        if not rows:
            raise NotFoundError(f"there is no trace set '{name}'")
        return _read_set(rows[0])

    def page(self, name: str, after: int, limit: int) -> StoredPage:
        """The traces of a set that have arrived after another one, with their spans.

        There are fewer than the limit where they are so large that no more are read at once.
        """
        query = select(traces).where(traces.c.trace_set == name, traces.c.number > after)
        rows = self._rows(query.order_by(traces.c.number).limit(limit + 1))
        fitting = _fitting(rows[:limit])
        return StoredPage(self._read(rows[:fitting]), is_last=fitting == len(rows))

    def all(self, name: str) -> Iterator[StoredTrace]:
        """The traces of a set in the order of their arrival, a few at a time."""
        last, is_last = 0, False
        while not is_last:
            found, is_last = self.page(name, last, _READ_AT_ONCE)
            yield from found
            last = found[-1].number if found else last

    def find(self, name: str, trace_id: str) -> StoredTrace:
        """One trace; an error where there is none."""
        wanted = traces.c.trace_set == name, traces.c.trace_id == trace_id
        found = self._read(self._rows(select(traces).where(*wanted)))
        if not found:
            raise NotFoundError(f"the trace set '{name}' has no trace '{trace_id}'")
        return found[0]

    def _read(self, rows: Sequence[Any]) -> tuple[StoredTrace, ...]:
        numbers = [row.number for row in rows]
        found: defaultdict[int, list[StoredSpan]] = defaultdict(list)
        spans = select(trace_spans).where(trace_spans.c.trace.in_(numbers))
        for span in self._rows(spans) if numbers else ():
            kept = StoredSpan(
                *(span.span_id, span.parent_id, span.start_ns, span.end_ns),
                json.loads(span.row),
            )
            found[span.trace].append(kept)
        return tuple(
            StoredTrace(row.number, row.trace_id, row.received_at, tuple(found[row.number]))
            for row in rows
        )

    def _rows(self, query: Select[*tuple[Any, ...]]) -> Sequence[Any]:
        engine = self._engine()
        with translated_errors(engine), engine.connect() as connection:
            return connection.execute(query).all()


_SETS = (
    select(
        trace_sets.c.name,
        trace_sets.c.created_at,
        func.count(traces.c.number).label("traces"),
        func.coalesce(whole_sum(traces.c.spans), 0).label("spans"),
        func.max(traces.c.received_at).label("last_received_at"),
    )
    .select_from(trace_sets.outerjoin(traces, traces.c.trace_set == trace_sets.c.name))
    .group_by(trace_sets.c.name, trace_sets.c.created_at)
)


def _create(connection: Connection, entry: AuditEntry) -> None:
    """Make a set and log it, where there is none of that name."""
    row = {"name": entry.subject, "created_at": entry.at}
    if connection.execute(insert_new(trace_sets), row).rowcount == 1:
        add_entry(connection, entry)


def _fitting(rows: Sequence[Any]) -> int:
    """How many traces are read at once: the first, and as many more as are not too large."""
    size = 0
    for place, row in enumerate(rows):
        size += row.bytes
        if size > MOST_AT_ONCE and place:
            return place
    return len(rows)


def _read_set(row: Any) -> TraceSet:
    return TraceSet(
        name=row.name,
        created_at=row.created_at,
        traces=row.traces,
        spans=row.spans,
        last_received_at=row.last_received_at,
    )
