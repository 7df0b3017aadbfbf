"""List the records of a run, and show one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

import msgspec

from steelyard.errors import InvalidError, NotFoundError
from steelyard.formats.encoding import without_surrogates
from steelyard.results.attempts import Attempt
from steelyard.results.failures import Failure
from steelyard.results.list_place import ListPlace
from steelyard.results.predictions import Prediction
from steelyard.results.records import (
    MAX_COUNT,
    SORT_TYPES,
    Count,
    Place,
    Position,
    RecordQuery,
    RecordVerdict,
    RecordView,
    ResultCounts,
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

    def places(
        self, query: RecordQuery, after: Position | None, limit: int, skip: int = 0
    ) -> Sequence[Position]:
        """Where the records of a query stand in its list, after a position and so many more."""
        ...

    def count(self, query: RecordQuery) -> int:
        """How many records a query finds."""
        ...

    def counts(self) -> ResultCounts:
        """All records by what became of them; each row is read once."""
        ...

    def verdicts(self, names: Collection[str]) -> Sequence[RecordVerdict]:
        """What the run says of records by their ids, or by their indices in digits."""
        ...

    def predictions(self, places: Sequence[Place]) -> Sequence[Prediction]:
        """The results at some places, in their order."""
        ...

    def failures(self, query: RecordQuery, after: Place | None, limit: int) -> Sequence[Failure]:
        """The failures of a query after a place; it filters by id, status and label alone."""
        ...

    def has_tags(self) -> bool:
        """Whether the tags of records were kept."""
        ...

    def indices(self, record_id: str) -> Sequence[int]:
        """The indices of records with an id."""
        ...

    def around(self, query: RecordQuery, place: Place) -> ListPlace:
        """Where a record stands in the list of a query."""
        ...

    def record(self, index: int, repeat: int | None = None) -> RecordView:
        """Everything stored for a record, in all repeats or in one; empty if unknown."""
        ...


Row = TypeVar("Row")


class ResultPage(NamedTuple, Generic[Row]):
    """A page of a list of rows."""

    rows: Sequence[Row]
    next_cursor: str | None
    """The cursor of the next page; None at the end."""


class AttemptPosition(msgspec.Struct, frozen=True, array_like=True):
    """How many attempts come before a page."""

    begin: Count


def parse_sort(text: str) -> Sort:
    """An order by a field name; a leading `-` reverses it."""
    sort = Sort(cast(SortField, text.removeprefix("-")), text.startswith("-"))
    _require_field(sort)
    return sort


def _require_field(sort: Sort) -> None:
    if sort.field not in SORT_TYPES:
        raise InvalidError(f"cannot sort by '{sort.field}'; known fields: {', '.join(SORT_TYPES)}")


def _require_tags(records: Records, query: RecordQuery, found: Sequence[object]) -> None:
    """Refuse to look for a tag in a run that has kept none, rather than find nothing."""
    if query.tag is not None and not found and not records.has_tags():
        raise InvalidError(
            f"{records.title} has kept no tags, since 'tags' is not among the slices of its "
            "project; add it to 'slices' in steelyard.yaml and run again"
        )


def list_predictions(
    records: Records, query: RecordQuery, *, cursor: str | None = None, limit: int = 20
) -> ResultPage[Prediction]:
    """A page of the records of a query, with all that is stored of their results."""
    require_page(limit)
    _require_field(query.sort)
    query = written(query)
    after = None if cursor is None else _position(cursor, query)
    found = records.places(query, after, limit + 1)
    _require_tags(records, query, found)
    places = [(one.index, one.repeat) for one in found[:limit]]
    next_cursor = cursor_of(found[limit - 1], query) if len(found) > limit else None
    return ResultPage(records.predictions(places) if places else (), next_cursor)


def count_records(records: Records, query: RecordQuery) -> int:
    """How many records a query finds."""
    return records.count(written(query))


def list_places(records: Records, query: RecordQuery, limit: int) -> list[Place]:
    """Where the first records of a query are."""
    found = records.places(written(query), None, limit)
    return [(one.index, one.repeat) for one in found]


def cursor_at(records: Records, query: RecordQuery, skip: int) -> str | None:
    """The cursor of the page that begins after so many records; None for the first page."""
    if skip <= 0:
        return None
    query = written(query)
    found = records.places(query, None, 1, skip - 1)
    return cursor_of(found[0], query) if found else None


def list_failures(
    records: Records, query: RecordQuery, *, cursor: str | None = None, limit: int = 20
) -> ResultPage[Failure]:
    """A page of the failures of records, in their order."""
    require_page(limit)
    query = written(query)
    after = None if cursor is None else position_at(cursor, query, tuple[Count, Count])
    found = records.failures(query, after, limit + 1)
    if len(found) <= limit:
        return ResultPage(found, None)
    return ResultPage(found[:limit], cursor_of(found[limit - 1].place, query))


def list_attempts(
    records: Records,
    index: int,
    repeat: int | None = None,
    *,
    cursor: str | None = None,
    limit: int = 20,
) -> ResultPage[Attempt]:
    """A page of the attempts made for a record, in their order."""
    require_page(limit)
    query = ("attempts", index, repeat)
    begin = 0 if cursor is None else position_at(cursor, query, AttemptPosition).begin
    end = begin + limit
    made = show_record(records, index, repeat).attempts
    next_cursor = cursor_of(AttemptPosition(end), query) if len(made) > end else None
    return ResultPage(made[begin:end], next_cursor)


def place_in_list(records: Records, query: RecordQuery, place: Place) -> ListPlace:
    """Where a record stands in the list of a query."""
    _require_field(query.sort)
    return records.around(written(query), place)


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
        of = "" if repeat is None else f" (repeat {repeat})"
        raise NotFoundError(f"no record '{record}'{of} in {records.title}")
    return found


def _indices(records: Records, record: str | int) -> Sequence[int]:
    if isinstance(record, int):
        return [record]
    is_digits = record.isascii() and record.isdecimal() and len(record) <= len(str(MAX_COUNT))
    is_number = is_digits and str(int(record)) == record  # 007 is no index
    return records.indices(without_surrogates(record)) or ([int(record)] if is_number else [])


def _is_count(number: int) -> bool:
    return 0 <= number <= MAX_COUNT
