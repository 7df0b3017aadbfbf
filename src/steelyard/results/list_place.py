"""Where a record stands in a list: its number, and the records before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.results.records import Place


class ListPlace(NamedTuple):
    """The place of a record in one repeat."""

    number: int | None
    """From 1; None if it is not in the list."""
    total: int
    previous: Place | None
    following: Place | None


def place_among(places: Sequence[Place], place: Place) -> ListPlace:
    """The place of a record in a list that is at hand."""
    if place not in places:
        return ListPlace(None, len(places), None, None)
    at = places.index(place)
    before = places[at - 1] if at else None
    after = places[at + 1] if at + 1 < len(places) else None
    return ListPlace(at + 1, len(places), before, after)
