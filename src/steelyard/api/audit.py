"""The audit log: who changed what; as pages, or whole as JSONL or CSV."""

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
    """Which changes to list; an export has all that the filters find, without pages."""

    actor: str | None = None
    verb: str | None = None
    subject: str | None = None
    request_id: str | None = None
    format: Literal["json", "jsonl", "csv"] = "json"


class AuditRow(msgspec.Struct, frozen=True):
    """One change, and who made it in which request."""

    sequence: int
    at: str
    actor: str
    request_id: str
    verb: str
    subject: str
    detail: dict[str, Any]


def _changes(call: Call[ChangesQuery, None]) -> JsonReply | Response:
    asked, log = call.query, call.project.audit_log
    query = AuditQuery(
        actor=asked.actor, verb=asked.verb, subject=asked.subject, request_id=asked.request_id
    )
    if asked.format in _EXPORTS:
        media, written = _EXPORTS[asked.format]
        name = f'attachment; filename="audit.{asked.format}"'
        lines = written(every_change(log, query))
        return StreamingResponse(lines, media_type=media, headers={"content-disposition": name})
    page = list_changes(log, query, cursor=asked.cursor, limit=asked.limit)
    return JsonReply(body=Page([_body(entry) for entry in page.entries], page.next_cursor))


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
        summary="List changes, newest first; or export all of them.",
        scope="admin",
        handle=_changes,
        query=ChangesQuery,
        answers={200: Page[AuditRow]},
    ),
)
