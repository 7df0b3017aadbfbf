"""What follows from values that many records share, made for the first of them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar, cast

Parts = ParamSpec("Parts")
Made = TypeVar("Made")
_MOST = 256


class Once(Generic[Parts, Made]):
    """A function of values that nobody changes, which knows them again by what they are.

    Not by what they equal: 1 and 1.0 are equal and not shown alike, and to compare a long rubric
    costs more than to look it up.
    """

    def __init__(self, make: Callable[Parts, Made]) -> None:
        self._make = make
        self._known: dict[tuple[int, ...], tuple[tuple[object, ...], Made]] = {}
        """With the values: another object may get the place in memory of one that is gone."""

    def __call__(self, *parts: Parts.args, **none: Parts.kwargs) -> Made:
        """What follows from these values."""
        key = tuple(map(id, parts))
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST:
                self._known.clear()
            known = self._known[key] = (
                cast("tuple[object, ...]", parts),
                self._make(*parts, **none),
            )
        return known[1]
