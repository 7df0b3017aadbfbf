"""Places of a row that Steelyard itself fills, which redaction leaves as they are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from steelyard.model.frozen_struct import FrozenStruct

Place: TypeAlias = tuple[str, ...]
"""The names of fields from the row inwards; a list is passed through, `*` is any name."""
_ANY = "*"


class Exemption(FrozenStruct, frozen=True):
    """What of one kind of row is ours; everything else was written by somebody else."""

    values: frozenset[Place] = frozenset()
    """Places that hold a number, hash, time or word of ours, and nothing but that."""
    numbers: frozenset[Place] = frozenset()
    """Places beneath which every number is ours, though texts may be anything."""
    parts: frozenset[Place] = frozenset()
    """Places that hold an object or a list of ours, whatever a project calls its own fields."""

    @classmethod
    def of(cls, *values: str, numbers: Iterable[str] = (), parts: Iterable[str] = ()) -> Exemption:
        """An exemption of paths such as `trace.latency_ms`; the empty path is the whole row."""
        return cls(*(frozenset(map(_place, paths)) for paths in (values, numbers, parts)))

    def covers(self, place: Place) -> bool:
        """Whether the value at a place is ours."""
        return _is_among(place, self.values)

    def covers_part(self, place: Place) -> bool:
        """Whether the object or list at a place is ours, though not all that is in it."""
        return _is_among(place, self.parts)

    def covers_number(self, place: Place) -> bool:
        """Whether a number at a place is ours."""
        ends = range(len(place) + 1)
        return any(_is_among(place[:end], self.numbers) for end in ends)


NOTHING = Exemption()


def _place(path: str) -> Place:
    return tuple(path.split(".")) if path else ()


def _is_among(place: Place, places: frozenset[Place]) -> bool:
    return place in places or any(
        _ANY in known and len(known) == len(place) and all(map(_fits, known, place))
        for known in places
    )


def _fits(known: str, name: str) -> bool:
    return known in {_ANY, name}
