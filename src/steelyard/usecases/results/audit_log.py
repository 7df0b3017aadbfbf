"""List and export the changes of a project: who made them, and when."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from steelyard.formats.csv_line import csv_line
from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonValue
from steelyard.results.audit import EVERY_CHANGE, AuditPosition, AuditQuery
from steelyard.usecases.results.cursors import cursor_of, position_at, require_page, written

_COLUMNS = ("sequence", "at", "actor", "request_id", "verb", "subject", "detail")
_AT_ONCE = 1000


class AuditEntries(Protocol):
    """The audit log of a project."""

    def list(
        self, limit: int, query: AuditQuery = EVERY_CHANGE, after: AuditPosition | None = None
    ) -> Sequence[AuditEntry]:
        """The changes that a query finds after a position, newest first."""
        ...


class AuditPage(NamedTuple):
    """A part of a list."""

    entries: Sequence[AuditEntry]
    next_cursor: str | None
    """Where the next part begins; None at the end."""


def list_changes(
    log: AuditEntries,
    query: AuditQuery = EVERY_CHANGE,
    *,
    cursor: str | None = None,
    limit: int = 20,
) -> AuditPage:
    """A page of the changes that a query finds, newest first."""
    require_page(limit)
    query = written(query)
    after = None if cursor is None else position_at(cursor, query, AuditPosition)
    found = log.list(limit + 1, query, after)
    if len(found) <= limit:
        return AuditPage(found, None)
    last = AuditPosition(found[limit - 1].sequence)
    return AuditPage(found[:limit], cursor_of(last, query))


def every_change(log: AuditEntries, query: AuditQuery = EVERY_CHANGE) -> Iterator[AuditEntry]:
    """All changes that a query finds, newest first; read in parts."""
    query, after = written(query), None
    while found := log.list(_AT_ONCE, query, after):
        yield from found
        after = AuditPosition(found[-1].sequence)


def audit_jsonl(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """One JSON object a line."""
    for entry in entries:
        yield json.dumps(dict(zip(_COLUMNS, _values(entry), strict=True))) + "\n"


def audit_csv(entries: Iterable[AuditEntry]) -> Iterator[str]:
    """One line per change, with its details as JSON."""
    yield csv_line(_COLUMNS)
    for entry in entries:
        *values, detail = _values(entry)
        yield csv_line([*values, json.dumps(detail)])


def _values(entry: AuditEntry) -> tuple[JsonValue, ...]:
    caller = entry.caller
    who = (caller.actor, caller.request_id)
    return (entry.sequence, entry.at, *who, entry.verb, entry.subject, entry.detail)
