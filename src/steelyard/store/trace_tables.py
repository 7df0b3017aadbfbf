"""The tables of traces from elsewhere."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
)

from steelyard.store.column_types import Text, Whole
from steelyard.store.tables import metadata

trace_sets = Table(
    "trace_sets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
)

traces = Table(
    "traces",
    metadata,
    Column("number", Whole, primary_key=True),
    Column("trace_set", Text, nullable=False),
    Column("trace_id", Text, nullable=False),
    Column("received_at", Text, nullable=False),
    Column("spans", Whole, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Index("ix_traces_trace_id", "trace_id", "trace_set", unique=True),
    Index("ix_traces_trace_set", "trace_set", "number"),
)
"""Numbered in the order of their arrival; `spans` and `bytes` count what is stored of each."""

trace_spans = Table(
    "trace_spans",
    metadata,
    Column("trace", Whole, nullable=False),
    Column("span_id", Text, nullable=False),
    Column("parent_id", Text, nullable=False),
    Column("start_ns", BigInteger, nullable=False),
    Column("end_ns", BigInteger, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("trace", "span_id"),
    sqlite_with_rowid=False,
)
"""What was said in each span, redacted; a trace that came as a whole is one row without an id.

Ids and times are apart from it: to redaction they may look like numbers of cards.
"""
