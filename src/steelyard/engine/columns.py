"""Many numbers in few bytes, and what they come to."""

from __future__ import annotations

from array import array
from collections.abc import Container, Sequence
from math import fsum

from steelyard.stats.bootstrap import bootstrap_counted, bootstrap_mean
from steelyard.stats.intervals import Interval, wilson

_CODES = 256


class Column:
    """Numbers of which few are different: a byte each, and eight where they are many."""

    __slots__ = ("_codes", "_numbers", "_places", "_table")

    def __init__(self) -> None:
        self._table: list[float] = []
        self._places: dict[float, int] = {}
        self._codes = bytearray()
        self._numbers: array[float] | None = None

    def __len__(self) -> int:
        return len(self._codes) if self._numbers is None else len(self._numbers)

    def append(self, number: float) -> None:
        """One more."""
        if self._numbers is not None:
            self._numbers.append(number)
            return
        place = self._places.get(number)
        if place is None:
            place = self._places[number] = len(self._table)
            self._table.append(number)
            if place == _CODES:
                self._numbers = array("d", (*self.numbers(), number))
                return
        self._codes.append(place)

    def numbers(self) -> Sequence[float]:
        """All of them, in order."""
        if self._numbers is not None:
            return self._numbers
        return array("d", map(self._table.__getitem__, self._codes))

    def total(self) -> float:
        """Their sum, without the error of adding many."""
        if self._numbers is not None:
            return fsum(self._numbers)
        count = self._codes.count
        return fsum(number * count(place) for place, number in enumerate(self._table))

    def counts(self) -> dict[float, int] | None:
        """How often each occurs; None where many are different."""
        if self._numbers is not None:
            return None
        return {number: self._codes.count(place) for place, number in enumerate(self._table)}

    def is_among(self, wanted: Container[float]) -> bool:
        """Whether every number is one of these."""
        return self._numbers is None and all(number in wanted for number in self._table)


def rate(passes: Column, clusters: Sequence[int] | None = None) -> Interval:
    """Wilson for passes and fails; where repeats of a record disagree, its pass is a mean."""
    if passes.is_among({0.0, 1.0}):
        return wilson(passes.total(), len(passes))
    return bootstrap_mean(passes.numbers(), clusters)


def mean_of(scores: Column, clusters: Sequence[int] | None = None) -> Interval:
    """A mean with its bootstrap interval, by counts where few numbers are different."""
    counts = scores.counts() if clusters is None else None
    counted = bootstrap_counted(counts) if counts else None
    return counted or bootstrap_mean(scores.numbers(), clusters)
