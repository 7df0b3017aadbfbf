"""The audit log as an administrator reads it: filters, pages, and the whole of it as a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import msgspec

from steelyard.model.audit import AuditEntry
from steelyard.results.audit import AuditQuery
from steelyard.usecases.results.audit_log import list_changes
from steelyard.web.page import AnyPage, Context, Visit, WebPage

_LIMIT = 50


class AuditPageQuery(msgspec.Struct, frozen=True):
    """Which changes to show; the names are those of the API."""

    actor: str | None = None
    verb: str | None = None
    subject: str | None = None
    request_id: str | None = None
    cursor: str | None = None

    def address(self, **changes: str | None) -> dict[str, str | None]:
        """The query of the same list with some changes, from its first page on."""
        return {name: getattr(self, name) for name in FILTERS} | changes


FILTERS = ("actor", "verb", "subject", "request_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditContext(Context):
    """What the page of the audit log shows."""

    template: ClassVar[str] = "settings_audit.html"
    tab: ClassVar[str] = "audit"
    query: AuditPageQuery
    entries: tuple[AuditEntry, ...]
    next_cursor: str | None
    filters: tuple[str, ...] = FILTERS

    @property
    def is_filtered(self) -> bool:
        """Whether some changes may be left out."""
        return any(getattr(self.query, name) for name in FILTERS)


def _show(visit: Visit[AuditPageQuery]) -> AuditContext:
    asked = visit.query
    wanted = AuditQuery(
        actor=asked.actor, verb=asked.verb, subject=asked.subject, request_id=asked.request_id
    )
    page = list_changes(visit.project.audit_log, wanted, cursor=asked.cursor, limit=_LIMIT)
    return AuditContext(
        title="Settings",
        query=asked,
        entries=tuple(page.entries),
        next_cursor=page.next_cursor,
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/settings/audit", section="settings", scope="admin", show=_show, query=AuditPageQuery
    ),
)
