"""A page of the records of a run, with its filters and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.api.shown_results import ShownResults, shown_list
from steelyard.results.records import RecordQuery
from steelyard.usecases.results.records import (
    Records,
    count_records,
    cursor_at,
    list_predictions,
)
from steelyard.web.records.record_address import Address, RecordFilters
from steelyard.web.records.record_cells import RecordColumn, RecordRow, columns_of, row_maker
from steelyard.web.records.record_chips import Chip, chips_of, chosen_chips, more_chips
from steelyard.web.records.record_source import RecordSource

PAGE = 50
MOST_COUNTED = 1_000
"""Records that a search counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTable:
    """A page of records with its filters."""

    address: Address
    query: RecordFilters
    chips: tuple[Chip, ...]
    """Filters of one kind each."""
    chosen: tuple[Chip, ...]
    """Other filters that are set; each links to the list without it."""
    more: tuple[tuple[str, tuple[Chip, ...]], ...]
    """Filters to add, by what they are about."""
    columns: tuple[RecordColumn, ...]
    rows: tuple[RecordRow, ...]
    told: ShownResults
    """The records about which the page says something, absent ones too."""
    total: int | None
    """None where a search finds more than are counted."""
    next_href: str | None
    previous_href: str | None
    is_repeated: bool
    """Whether each record was asked several times: a row is a record in one repeat."""

    @property
    def shown(self) -> tuple[RecordColumn, ...]:
        """The columns that are shown."""
        return tuple(one for one in self.columns if one.is_shown)

    @property
    def last(self) -> int:
        """The place of the last record of the page."""
        return self.query.begin + len(self.rows) - 1

    def sort_href(self, field: str) -> str:
        """The list by a field; by the same field, the other way round."""
        turned = f"-{field}" if self.query.order == field else field
        return self.address.records(sort=turned)

    def aria_sort(self, field: str) -> str:
        """How the list is sorted by a field; empty where it is not."""
        if self.query.order.removeprefix("-") != field:
            return ""
        return "descending" if self.query.order.startswith("-") else "ascending"


def record_table(source: RecordSource, query: RecordFilters) -> RecordTable:
    """The page of records that an address asks for."""
    wanted = query.wanted(source.people, has_jury=source.counts.split > 0)
    page = list_predictions(source.records, wanted, cursor=query.cursor, limit=PAGE)
    address = Address(source.run_id, query)
    columns = tuple(columns_of(source, query))
    row = row_maker(source, address, [one.name for one in columns if one.is_shown])
    begin, number = query.begin, len(page.rows)
    following = None
    if page.next_cursor:
        changes = {"cursor": page.next_cursor, "begin": begin + number}
        following = f"{address.run}{address.query(**changes)}#records"
    return RecordTable(
        address=address,
        query=query,
        chips=tuple(chips_of(source, query, address)),
        chosen=tuple(chosen_chips(query, address)),
        more=tuple(more_chips(source, address)),
        columns=columns,
        rows=tuple(row(one) for one in page.rows),
        told=shown_list(
            source.run_id,
            wanted,
            source.records,
            [one.index for one in page.rows],
            is_part=query.sort is not None and bool(query.cursor or page.next_cursor),
        ),
        total=_total(source, query, wanted, begin + number - 1 if not page.next_cursor else None),
        next_href=following,
        previous_href=_previous(source.records, wanted, query, address),
        is_repeated=source.is_repeated,
    )


def _total(
    source: RecordSource, query: RecordFilters, wanted: RecordQuery, known: int | None
) -> int | None:
    if known is not None:
        return known
    if query.q:
        # To count means to search all records.
        number = len(source.records.places(wanted, None, MOST_COUNTED + 1))
        return number if number <= MOST_COUNTED else None
    found = source.known_number(query)
    return count_records(source.records, wanted) if found is None else found


def _previous(
    records: Records, wanted: RecordQuery, query: RecordFilters, address: Address
) -> str | None:
    if query.cursor is None:
        return None
    begin = max(1, query.begin - PAGE)
    changes: dict[str, Any] = {"cursor": cursor_at(records, wanted, begin - 1), "begin": begin}
    return f"{address.run}{address.query(**changes)}#records"
