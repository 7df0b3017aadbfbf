"""The audit log: who changed what; as pages, or exported whole as JSONL or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec
from starlette.responses import Response, StreamingResponse

from steelyard.api.call import Call, JsonReply
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery
from steelyard.model.audit import AuditEntry
from steelyard.results.audit import AuditQuery
from steelyard.usecases.results.audit_log import (
    audit_csv,
    audit_jsonl,
    every_change,
    list_changes,
)

_EXPORTS: dict[str, tuple[str, Callable[[Iterable[AuditEntry]], Iterator[str]]]] = {
    "jsonl": ("application/x-ndjson", audit_jsonl),
    "csv": ("text/csv; charset=utf-8", audit_csv),
}


class ChangesQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which changes to list."""

    actor: str | None = None
    """Only changes of this caller."""
    verb: str | None = None
    """Only this kind of change, such as `create_run`."""
    subject: str | None = None
    """Only changes of this run, version, user or key."""
    request_id: str | None = None
    """Only changes of this request."""


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes to export, and how."""

    format: Literal["jsonl", "csv"] = "jsonl"
    """One JSON object a line, or CSV."""
    actor: str | None = None
    """Only changes of this caller."""
    verb: str | None = None
    """Only this kind of change, such as `create_run`."""
    subject: str | None = None
    """Only changes of this run, version, user or key."""
    request_id: str | None = None
    """Only changes of this request."""


class AuditRow(msgspec.Struct, frozen=True):
    """One change, and who made it in which request."""

    sequence: int
    """Counts the changes of the project."""
    at: str
    """When it was made."""
    actor: str
    """Who made it."""
    request_id: str
    """In which request."""
    verb: str
    """What was done, such as `create_run`."""
    subject: str
    """To what: a run, a version, a user, a key."""
    detail: dict[str, Any]
    """More about it; never a secret."""


def _changes(call: Call[ChangesQuery, None]) -> JsonReply:
    asked = call.query
    page = list_changes(
        call.project.audit_log, _filters(asked), cursor=asked.cursor, limit=asked.limit
    )
    return JsonReply(body=Page([_body(entry) for entry in page.entries], page.next_cursor))


def _export(call: Call[ExportQuery, None]) -> Response:
    media, written = _EXPORTS[call.query.format]
    lines = written(every_change(call.project.audit_log, _filters(call.query)))
    name = f'attachment; filename="audit.{call.query.format}"'
    return StreamingResponse(lines, media_type=media, headers={"content-disposition": name})


def _filters(asked: ChangesQuery | ExportQuery) -> AuditQuery:
    return AuditQuery(
        actor=asked.actor, verb=asked.verb, subject=asked.subject, request_id=asked.request_id
    )


def _body(entry: AuditEntry) -> AuditRow:
    return AuditRow(
        sequence=entry.sequence,
        at=entry.at,
        actor=entry.caller.actor,
        request_id=entry.caller.request_id,
        verb=entry.verb,
        subject=entry.subject,
        detail=entry.detail,
    )


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/audit",
        summary="List changes, newest first.",
        scope="admin",
        handle=_changes,
        query=ChangesQuery,
        answers={200: Page[AuditRow]},
    ),
    Operation(
        method="GET",
        path="/v1/audit/export",
        summary="Export all changes, newest first.",
        scope="admin",
        handle=_export,
        query=ExportQuery,
        answers={200: "application/x-ndjson text/csv"},
        answer_headers={"Content-Disposition": "The name of the file."},
    ),
)
