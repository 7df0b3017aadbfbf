"""Lists: the query that all of them share, and the shape of a page."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

import msgspec

Item = TypeVar("Item")
Limit = Annotated[int, msgspec.Meta(ge=1, le=100, description="The most entries of a page.")]
Cursor = Annotated[str, msgspec.Meta(description="`next_cursor` of the page before.")]


class PageQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which page of a list."""

    cursor: Cursor | None = None
    limit: Limit = 20


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """A part of a list, and where the next one begins."""

    data: list[Item]
    next_cursor: str | None
