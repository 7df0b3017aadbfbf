"""Traces from elsewhere: sets of traces, and what is stored of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.model.json_value import JsonObject

MAX_SPANS = 10_000
"""The most spans of one trace."""
MAX_BYTES = 64 * 1024 * 1024
"""The most bytes of one trace."""
WHOLE = ""
"""The span id of a trace that came as a whole, from a file."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")


def is_set_name(name: str) -> bool:
    """Whether a set may be called so; the dataset of a run over it has the same name."""
    return _NAME.fullmatch(name) is not None


def set_name_of(text: str) -> str:
    """A name for a set, made from any text, such as that of a service; it may be empty."""
    return _OTHER.sub("-", text).strip("-_.")[:100]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSpan:
    """A span that is to be stored, redacted."""

    trace_set: str
    is_named: bool
    """Whether the sender names the set; else the span joins its trace, wherever that is."""
    trace_id: str
    span_id: str
    parent_id: str
    """The span that holds it; empty where none does."""
    start_ns: int
    end_ns: int
    row: bytes
    """What it says, as JSON."""


class AddedSpans(NamedTuple):
    """What became of spans that were sent."""

    new: int
    known: int
    """Those that were stored before; they stay as they are."""
    refused: int
    """Those of traces that have too many spans or bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSet:
    """Traces that are reviewed and judged together."""

    name: str
    created_at: str
    traces: int
    spans: int
    last_received_at: str | None
    """When its newest trace began to arrive."""


class StoredSpan(NamedTuple):
    """A span as it is stored; or a whole trace, where it has no span id."""

    span_id: str
    parent_id: str
    start_ns: int
    end_ns: int
    row: JsonObject


class StoredPage(NamedTuple):
    """Some traces of a set: as many as were asked for, or as are held in memory at once."""

    traces: tuple[StoredTrace, ...]
    is_last: bool


class StoredTrace(NamedTuple):
    """The spans of a trace."""

    number: int
    """Its place in the order in which traces of all sets have arrived."""
    trace_id: str
    received_at: str
    spans: tuple[StoredSpan, ...]
