"""The API as a page, from its OpenAPI document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import msgspec

from steelyard.api.application import operations
from steelyard.api.openapi import document
from steelyard.reports.api_reference import ApiOperation, ApiReference, Resource, api_reference
from steelyard.web.page import AnyPage, Context, Visit, WebPage


class DocsQuery(msgspec.Struct, frozen=True):
    """Which operations to show."""

    q: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocsContext(Context):
    """What the page of the API shows."""

    template: ClassVar[str] = "docs.html"
    asked: str
    reference: ApiReference
    resources: tuple[Resource, ...]
    """Those with operations that match what was asked for."""


def _show(visit: Visit[DocsQuery]) -> DocsContext:
    settings, host = visit.served.settings, visit.request.headers.get("host", "")
    origin = (settings.public_url or f"http://{host}").rstrip("/")
    reference, asked = api_reference(_document(), origin), visit.query.q.strip()
    fitting = (
        Resource(one.name, tuple(op for op in one.operations if _matches(op, asked)))
        for one in reference.resources
    )
    return DocsContext(
        title="API",
        asked=asked,
        reference=reference,
        resources=tuple(one for one in fitting if one.operations),
    )


def _matches(operation: ApiOperation, asked: str) -> bool:
    about = f"{operation.method} {operation.path} {operation.summary} {operation.scope or ''}"
    return asked.casefold() in about.casefold()


@cache
def _document() -> dict[str, Any]:
    return document(operations())


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/docs", section="", scope=None, show=_show, query=DocsQuery),
)
