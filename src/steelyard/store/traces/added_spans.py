"""Adds spans to their traces, each once, within one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, select, update

from steelyard.model.trace_set import MAX_BYTES, MAX_SPANS, AddedSpans, NewSpan
from steelyard.store.dialects import insert_new
from steelyard.store.trace_tables import trace_spans, traces

_MOST_VALUES = 500
"""So many values at once are looked for: a statement takes only so many."""
_earlier = traces.alias()
_JOINED = (
    select(_earlier.c.trace_set)
    .where(_earlier.c.trace_id == bindparam("joined_id"))
    .order_by(_earlier.c.number)
    .limit(1)
    .scalar_subquery()
)
_NEW = insert_new(traces).values(
    trace_set=bindparam("named"),
    trace_id=bindparam("id"),
    received_at=bindparam("at"),
    spans=0,
    bytes=0,
)
_NEW_OR_JOINED = _NEW.values(trace_set=func.coalesce(_JOINED, bindparam("named")))
_GROWN = (
    update(traces)
    .where(traces.c.number == bindparam("grown"))
    .values(spans=traces.c.spans + bindparam("more"), bytes=traces.c.bytes + bindparam("size"))
)


class StoredCounts(NamedTuple):
    """What became of spans, and the sets that they are in."""

    counts: AddedSpans
    trace_sets: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _Trace:
    """A trace with what is stored of it and what comes now."""

    number: int
    trace_set: str
    count: int
    size: int
    sent: dict[str, NewSpan] = field(default_factory=dict[str, NewSpan])


def add_spans(connection: Connection, spans: Sequence[NewSpan], at: str) -> StoredCounts:
    """Add what is new.

    The first statement takes the lock under which all the rest is done, so that a batch that is
    sent twice at once is stored once.
    """
    _make_traces(connection, spans, at)
    placed = _placed(connection, spans)
    known = len(spans) - sum(len(trace.sent) for trace in placed)
    new = refused = 0
    rows: list[dict[str, Any]] = []
    grown: list[dict[str, int]] = []
    for trace in placed:
        fresh = _fresh(connection, trace)
        known += len(trace.sent) - len(fresh)
        taken = list(_taken(trace, fresh))
        refused += len(fresh) - len(taken)
        new += len(taken)
        rows.extend(_row(trace.number, span) for span in taken)
        if taken:
            size = sum(len(span.row) for span in taken)
            grown.append({"grown": trace.number, "more": len(taken), "size": size})
    if rows:
        connection.execute(insert(trace_spans), rows)
        connection.execute(_GROWN, grown)
    used = frozenset(trace.trace_set for trace in placed)
    return StoredCounts(AddedSpans(new, known, refused), used)


def _make_traces(connection: Connection, spans: Sequence[NewSpan], at: str) -> None:
    """A row for every trace that is not there yet.

    Where no set is named, a trace is not divided: it stays where its first span has gone.
    """
    keys = dict.fromkeys((span.trace_id, span.trace_set, span.is_named) for span in spans)
    for trace_id, name, is_named in keys:
        values = {"id": trace_id, "named": name, "at": at}
        if is_named:
            connection.execute(_NEW, values)
        else:
            connection.execute(_NEW_OR_JOINED, {**values, "joined_id": trace_id})


def _placed(connection: Connection, spans: Sequence[NewSpan]) -> list[_Trace]:
    """The traces of the spans, each with those of its spans that were sent; the first of each."""
    named: dict[tuple[str, str], _Trace] = {}
    first: dict[str, _Trace] = {}
    for ids in _slices(sorted({span.trace_id for span in spans})):
        query = select(traces).where(traces.c.trace_id.in_(ids)).order_by(traces.c.number)
        for row in connection.execute(query):
            trace = _Trace(
                number=row.number, trace_set=row.trace_set, count=row.spans, size=row.bytes
            )
            named[row.trace_id, row.trace_set] = trace
            first.setdefault(row.trace_id, trace)
    met: dict[int, _Trace] = {}
    for span in spans:
        trace = named[span.trace_id, span.trace_set] if span.is_named else first[span.trace_id]
        trace.sent.setdefault(span.span_id, span)
        met[trace.number] = trace
    return list(met.values())


def _fresh(connection: Connection, trace: _Trace) -> list[NewSpan]:
    """The spans that are not stored yet."""
    stored: set[str] = set()
    for ids in _slices(list(trace.sent)) if trace.count else ():
        query = select(trace_spans.c.span_id).where(
            trace_spans.c.trace == trace.number, trace_spans.c.span_id.in_(ids)
        )
        stored.update(connection.execute(query).scalars())
    return [span for span_id, span in trace.sent.items() if span_id not in stored]


def _taken(trace: _Trace, fresh: Sequence[NewSpan]) -> Iterator[NewSpan]:
    """As many as a trace may have."""
    count, size = trace.count, trace.size
    for span in fresh:
        if count < MAX_SPANS and size + len(span.row) <= MAX_BYTES:
            count += 1
            size += len(span.row)
            yield span


def _row(number: int, span: NewSpan) -> dict[str, Any]:
    return {
        "trace": number,
        "span_id": span.span_id,
        "parent_id": span.parent_id,
        "start_ns": span.start_ns,
        "end_ns": span.end_ns,
        "row": span.row,
    }


def _slices(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _MOST_VALUES):
        yield values[start : start + _MOST_VALUES]
