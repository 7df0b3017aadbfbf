"""Lists: the query that all of them share, and the shape of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

import msgspec

from steelyard.errors import InvalidError
from steelyard.usecases.results.cursors import cursor_of, position_at

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
    """The entries of this page."""
    next_cursor: str | None
    """`cursor` for the next page; null on the last one."""


def page_of(items: Sequence[Item], id_of: Callable[[Item], str], query: PageQuery) -> Page[Item]:
    """A page of a list that is read whole; a cursor is the id of the last item before it."""
    start = 0
    if query.cursor is not None:
        last = position_at(query.cursor, None, str)
        start = next((at for at, item in enumerate(items, 1) if id_of(item) == last), -1)
        if start < 0:
            raise InvalidError(
                "what the cursor stands after was removed; begin with the first page"
            )
    found = list(items[start : start + query.limit])
    is_last = start + query.limit >= len(items)
    return Page(found, None if is_last else cursor_of(id_of(found[-1]), None))
