"""List the changes of a project: who made them, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from steelyard.model.audit import AuditEntry
from steelyard.results.audit import EVERY_CHANGE, AuditPosition, AuditQuery
from steelyard.usecases.results.cursors import cursor_of, position_at, require_page, written


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
