"""Many numbers in few bytes, by record."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = "NDArray[np.float64]"
Chosen: TypeAlias = "NDArray[Any] | None"
"""Places of some entries, upwards; None for all of them."""
_CODES = 256


class Column:
    """Numbers of which few are different: nothing where all are equal, a byte each, or eight."""

    __slots__ = ("_codes", "_length", "_numbers", "_places", "_table")

    def __init__(self) -> None:
        self._table: list[float] = []
        self._places: dict[float, int] = {}
        self._codes: bytearray | None = None
        self._numbers: array[float] | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, number: float) -> None:
        """One more."""
        if self._numbers is None and number not in self._places:
            self.learn((number,))
        self._length += 1
        if self._numbers is not None:
            self._numbers.append(number)
        elif self._codes is not None:
            self._codes.append(self._places[number])

    def extend(self, numbers: Numbers) -> None:
        """Many more."""
        if self._numbers is None:
            codes = self._coded(numbers)
            if codes is None:
                # `np.unique` would load `numpy.ma`, which takes longer than all of this.
                self.learn(sorted(set(numbers.tolist())))
                codes = self._coded(numbers)
            if codes is not None and self._codes is not None:
                self._codes.extend(codes.tobytes())
        if self._numbers is not None:
            self._numbers.frombytes(np.ascontiguousarray(numbers).tobytes())
        self._length += len(numbers)

    def _coded(self, numbers: Numbers) -> NDArray[np.uint8] | None:
        """The codes of numbers; None where one of them is new or has none."""
        if self._numbers is not None or not self._table:
            return None
        kinds = np.array(self._table)
        order = np.argsort(kinds)
        found = np.searchsorted(kinds, numbers, sorter=order)
        codes = order[np.minimum(found, len(kinds) - 1)]
        return codes.astype(np.uint8) if bool((kinds[codes] == numbers).all()) else None

    def learn(self, numbers: Iterable[float]) -> None:
        """Give new numbers a code, in this order, or give up codes where there are too many."""
        for number in numbers:
            if number not in self._places:
                self._places[number] = len(self._table)
                self._table.append(number)
        if len(self._table) > _CODES:
            self._numbers = array("d", self.numbers().tobytes())
            self._codes = None
        elif len(self._table) > 1 and self._codes is None:
            self._codes = bytearray(self._length)

    def numbers(self, chosen: Chosen = None) -> Numbers:
        """All of them in order, or those at some places."""
        if self._numbers is not None:
            found = np.frombuffer(self._numbers)
            return found if chosen is None else found[chosen]
        if self._codes is None:
            length = self._length if chosen is None else len(chosen)
            return np.full(length, self._table[0] if self._table else 0.0)
        return np.array(self._table)[self._chosen_codes(chosen)]

    def counts(self, chosen: Chosen = None) -> dict[float, int] | None:
        """How often each occurs; None where many are different."""
        if self._numbers is not None:
            return None
        if self._codes is None:
            length = self._length if chosen is None else len(chosen)
            return dict.fromkeys(self._table, length) if length else {}
        times = np.bincount(self._chosen_codes(chosen), minlength=len(self._table)).tolist()
        return {number: n for number, n in zip(self._table, times, strict=True) if n}

    def _chosen_codes(self, chosen: Chosen) -> NDArray[np.uint8]:
        assert self._codes is not None
        codes = np.frombuffer(self._codes, dtype=np.uint8)
        return codes if chosen is None else codes[chosen]


class Places:
    """Which records have an entry, upwards; nothing is kept while every record has one."""

    __slots__ = ("_length", "_listed")

    def __init__(self) -> None:
        self._length = 0
        self._listed: array[int] | None = None

    def __len__(self) -> int:
        return self._length

    def extend(self, records: NDArray[Any]) -> None:
        """The records of more entries; a record has several in a row."""
        places = np.arange(self._length, self._length + len(records))
        if self._listed is None and not np.array_equal(records, places):
            self._listed = array("i", range(self._length))
        if self._listed is not None:
            self._listed.frombytes(records.astype(np.int32).tobytes())
        self._length += len(records)

    def records(self, entries: Chosen = None) -> NDArray[Any]:
        """The record of every entry, or of some."""
        if self._listed is None:
            return np.arange(self._length) if entries is None else entries
        found = np.frombuffer(self._listed, dtype=np.int32)
        return found if entries is None else found[entries]

    def entries(self, records: Chosen) -> Chosen:
        """The entries of some records."""
        if records is None:
            return None
        if self._listed is None:
            return records[: np.searchsorted(records, self._length)]
        listed = self.records()
        first = np.searchsorted(listed, records)
        times = np.searchsorted(listed, records, side="right") - first
        ends = np.cumsum(times)
        return np.repeat(first - ends + times, times) + np.arange(ends[-1] if len(ends) else 0)


class Times:
    """The times that some of the rows took, by their records."""

    __slots__ = ("_places", "_values")

    def __init__(self) -> None:
        self._places, self._values = Places(), Column()

    def extend(self, records: NDArray[Any], values: Numbers) -> None:
        """The times of more rows; a record has several in a row."""
        self._places.extend(records)
        self._values.extend(values)

    def within(self, records: Chosen) -> Numbers:
        """Those of some records."""
        return self._values.numbers(self._places.entries(records))


class LabelColumn:
    """The clusters of records; nothing is kept where no record is in one."""

    def __init__(self) -> None:
        self._codes: defaultdict[str | None, int] = defaultdict(count().__next__)
        self._labels: array[int] | None = None
        self._length = 0
        self._numbered: tuple[NDArray[Any], NDArray[Any] | None] | None = None
        """The records that were asked about last, and their clusters."""

    def extend(self, names: Sequence[str | None]) -> None:
        """The clusters of more records."""
        unnamed = names.count(None)
        if self._labels is None and unnamed < len(names):
            self._labels = array("i", range(-1, -1 - self._length, -1))
        if self._labels is not None:
            found = np.fromiter(map(self._codes.__getitem__, names), np.int32, len(names))
            if unnamed:
                # A record without a cluster is one of its own.
                own = np.array([name is None for name in names])
                found[own] = -1 - self._length - np.flatnonzero(own)
            self._labels.frombytes(found.tobytes())
        self._length += len(names)

    def of(self, places: Places, entries: Chosen = None) -> NDArray[Any] | None:
        """The cluster of the record of each entry, by numbers from 0 of which none is left out.

        None where each record is a cluster of its own.
        """
        return None if self._labels is None else self.of_records(places.records(entries))

    def of_records(self, records: NDArray[Any]) -> NDArray[Any] | None:
        """The same by records."""
        if self._labels is None:
            return None
        if self._numbered is None or not np.array_equal(self._numbered[0], records):
            chosen = np.frombuffer(self._labels, dtype=np.int32)[records]
            self._numbered = records, _numbered(chosen)
        return self._numbered[1]


def _numbered(labels: NDArray[Any]) -> NDArray[Any] | None:
    """Labels by their order; None where all are different."""
    kinds, numbers = np.unique(labels, return_inverse=True)
    return numbers if len(kinds) < len(labels) else None
