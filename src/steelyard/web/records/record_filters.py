"""The list of records that a record was opened from: the query of the run page, carried along."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qsl

import msgspec

from steelyard.errors import InvalidError
from steelyard.results.records import RecordQuery
from steelyard.usecases.judges.people_verdicts import PeopleOfRun
from steelyard.web.records.record_address import RecordFilters

_IN_ORDER = RecordFilters(sort="index")
_NAMES = frozenset(RecordFilters.__struct_encode_fields__)


def listed_by(text: str) -> RecordFilters:
    """The query of the run page; without a good one, all records in their order."""
    given = {name: value for name, value in parse_qsl(text) if value and name in _NAMES}
    try:
        return msgspec.convert(given, RecordFilters, strict=False) if given else _IN_ORDER
    except msgspec.ValidationError:
        return _IN_ORDER


def filter_of(listed: RecordFilters, people: Callable[[], PeopleOfRun | None]) -> RecordQuery:
    """The records of the list; what people say is asked for only where the list depends on it."""
    found = people() if listed.only in {"look", "read", "differs"} else None
    try:
        return listed.wanted(found)
    except InvalidError:
        return _IN_ORDER.wanted(None)


def list_words(listed: RecordFilters) -> str:
    """Which list it is, such as `in the filtered list`; empty for all records in their order."""
    if listed.filters:
        return "in the filtered list"
    return "" if listed.order == "index" else f"by {listed.order.removeprefix('-')}"
