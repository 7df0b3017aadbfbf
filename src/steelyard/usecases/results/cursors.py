"""Cursors: opaque positions of the next page of a list."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import fields, replace
from typing import TypeVar

import msgspec

from steelyard.errors import InvalidError
from steelyard.formats.encoding import without_surrogates
from steelyard.results.audit import AuditQuery
from steelyard.results.records import RecordQuery
from steelyard.results.runs import RunQuery

Position = TypeVar("Position")
Query = TypeVar("Query", AuditQuery, RecordQuery, RunQuery)
MAX_PAGE = 1_000_000_000
_MARK_BYTES = 6


def require_page(limit: int) -> None:
    """Refuse an empty or too large page."""
    if not isinstance(limit, int) or not 1 <= limit <= MAX_PAGE:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidError(f"limit must be a whole number from 1 to {MAX_PAGE}, not {limit}")


def written(query: Query) -> Query:
    """A query whose texts are as rows have them, where half a surrogate pair is replaced."""
    texts = {
        one.name: without_surrogates(value)
        for one in fields(query)
        if isinstance(value := getattr(query, one.name), str)
    }
    return replace(query, **texts)


def cursor_of(position: object, query: object) -> str:
    """The cursor after a position in the list of a query."""
    text = msgspec.json.encode((_mark(query), position))
    return base64.urlsafe_b64encode(text).decode("ascii").rstrip("=")


def position_at(cursor: str, query: object, kind: type[Position]) -> Position:
    """The position of a cursor, which must belong to the same query."""
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        mark, position = msgspec.json.decode(text, type=tuple[str, kind])
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise no_cursor(cursor) from None
    if mark != _mark(query):
        raise InvalidError("the cursor belongs to a list with other filters or another order")
    return position


def no_cursor(cursor: str) -> InvalidError:
    """What to raise for a text that is no cursor."""
    return InvalidError(f"'{cursor}' is not a cursor that a list gave")


def _mark(query: object) -> str:
    return hashlib.blake2b(
        repr(query).encode("utf-8", "surrogatepass"), digest_size=_MARK_BYTES
    ).hexdigest()
