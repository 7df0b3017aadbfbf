"""List the records of a run, and show one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, cast

from steelyard.errors import InvalidError, NotFoundError
from steelyard.formats.encoding import without_surrogates
from steelyard.results.records import (
    MAX_COUNT,
    SORT_TYPES,
    Position,
    RecordLine,
    RecordQuery,
    RecordView,
    Sort,
    SortField,
)
from steelyard.usecases.results.cursors import (
    cursor_of,
    no_cursor,
    position_at,
    require_page,
    written,
)


class Records(Protocol):
    """The records of one run, in the store or in its folder."""

    @property
    def title(self) -> str:
        """Their name in messages."""
        ...

    def page(self, query: RecordQuery, after: Position | None, limit: int) -> Sequence[RecordLine]:
        """The records of a query after a position."""
        ...

    def has_tags(self) -> bool:
        """Whether the tags of records were kept."""
        ...

    def indices(self, record_id: str) -> Sequence[int]:
        """The indices of records with an id."""
        ...

    def record(self, index: int, repeat: int | None = None) -> RecordView:
        """Everything stored for a record, in all repeats or in one; empty if unknown."""
        ...


class RecordPage(NamedTuple):
    """A page of a list."""

    records: Sequence[RecordLine]
    next_cursor: str | None
    """The cursor of the next page; None at the end."""


def parse_sort(text: str) -> Sort:
    """An order by a field name; a leading `-` reverses it."""
    sort = Sort(cast(SortField, text.removeprefix("-")), text.startswith("-"))
    _require_field(sort)
    return sort


def _require_field(sort: Sort) -> None:
    if sort.field not in SORT_TYPES:
        raise InvalidError(f"cannot sort by '{sort.field}'; known fields: {', '.join(SORT_TYPES)}")


def list_records(
    records: Records, query: RecordQuery, *, cursor: str | None = None, limit: int = 20
) -> RecordPage:
    """A page of the records of a query."""
    require_page(limit)
    _require_field(query.sort)
    query = written(query)
    after = None if cursor is None else _position(cursor, query)
    found = records.page(query, after, limit + 1)
    if query.tag is not None and not found and not records.has_tags():
        raise InvalidError(
            f"{records.title} has kept no tags, since 'tags' is not among the slices of its "
            "project; add it to 'slices' in steelyard.yaml and run again"
        )
    if len(found) <= limit:
        return RecordPage(found, None)
    last = found[limit - 1].position(query.sort)
    return RecordPage(found[:limit], cursor_of(last, query))


def _position(cursor: str, query: RecordQuery) -> Position:
    """The position of a cursor, whose value must be one that the list can be sorted by."""
    found = position_at(cursor, query, Position)
    if found.value is not None and type(found.value) is not SORT_TYPES[query.sort.field]:
        raise no_cursor(cursor)
    return found


def show_record(records: Records, record: str | int, repeat: int | None = None) -> RecordView:
    """A record by its index, or by its id, else by its index in digits."""
    found = RecordView([], [], {}, [])
    for index in _indices(records, record):
        if _is_count(index) and (repeat is None or _is_count(repeat)):
            found.add(records.record(index, repeat))
    if not found.rows and not found.attempts:
        raise NotFoundError(f"no record '{record}' in {records.title}")
    return found


def _indices(records: Records, record: str | int) -> Sequence[int]:
    if isinstance(record, int):
        return [record]
    is_digits = record.isascii() and record.isdecimal() and len(record) <= len(str(MAX_COUNT))
    is_number = is_digits and str(int(record)) == record  # 007 is no index
    return records.indices(without_surrogates(record)) or ([int(record)] if is_number else [])


def _is_count(number: int) -> bool:
    return 0 <= number <= MAX_COUNT
