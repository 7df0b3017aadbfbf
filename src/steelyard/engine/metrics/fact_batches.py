"""Facts by the thousand as columns, and sums of them for the whole run and every slice."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import astuple

from steelyard.engine.metrics.columns import Chosen, Numbers
from steelyard.results.facts import Facts
from steelyard.stats.arrays import np

if TYPE_CHECKING:
    from msgspec import Struct
    from numpy.typing import NDArray

Slice: TypeAlias = tuple[str, str | None]
ROWS = 4096
"""How many facts are taken in at once."""
_FIELDS = Facts.__struct_fields__
_REMEMBERED = 10_000


def batches(facts: Iterable[Facts]) -> Iterator[Batch]:
    """Facts in order, the repeats of a record always in one batch."""
    source, held = iter(facts), list[Facts]()
    while taken := list(islice(source, ROWS)):
        rows = [*held, *taken]
        last = len(rows) - 1
        while last > 0 and rows[last - 1].index == rows[-1].index:
            last -= 1
        # The next facts may be of the same record.
        if last:
            yield Batch(rows[:last])
        held = rows[last:]
    if held:
        yield Batch(held)


def columns_of(rows: Sequence[Struct], fields: Sequence[str]) -> dict[str, list[Any]]:
    """One field of every row, by its name; rows one after the other are read fastest."""
    flat = list(chain.from_iterable(map(astuple, rows)))
    return {name: flat[place :: len(fields)] for place, name in enumerate(fields)}


def floats_of(column: Sequence[Any]) -> Numbers:
    """Numbers and truths of which some may be None, which is nan.

    Most fields hold one object again and again, and that is seen in a hundredth of the time.
    """
    first = column[0] if column else None
    if column and column[-1] is first and column.count(first) == len(column):
        return np.full(len(column), np.nan if first is None else first, dtype=np.float64)
    return np.array(column, dtype=np.float64)


def where_is(value: str, column: list[str]) -> NDArray[np.bool_]:
    """Which of some texts are this one."""
    n = column.count(value)
    if n in (0, len(column)):
        return np.full(len(column), n > 0)
    return np.array([one == value for one in column])


class Batch:
    """Some facts, a column for each of their fields."""

    def __init__(self, rows: Sequence[Facts]) -> None:
        self._columns = columns_of(rows, _FIELDS)
        index = np.fromiter(self._columns["index"], np.int64, len(rows))
        self.firsts = np.flatnonzero(np.diff(index, prepend=index[0] - 1))
        """The first row of every record."""
        self.count = len(self.firsts)
        self.has_repeats = self.count < len(rows)
        sizes = np.diff(self.firsts, append=len(rows))
        self.sizes = sizes.astype(np.float64)
        self.record = np.repeat(np.arange(self.count), sizes)
        """The record of every row."""

    def values(self, name: str) -> list[Any]:
        """One field of every row."""
        return self._columns[name]

    def first_values(self, name: str) -> Sequence[Any]:
        """One field of every record, from its first row."""
        column = self._columns[name]
        return [column[row] for row in self.firsts.tolist()] if self.has_repeats else column

    def numbers(self, name: str) -> tuple[Numbers, NDArray[np.bool_]]:
        """A field of numbers with 0 for None, and where it is known."""
        found = floats_of(self._columns[name])
        known = ~np.isnan(found)
        return np.where(known, found, 0.0), known

    def by_record(self, values: NDArray[Any]) -> Numbers:
        """The sum over the rows of every record."""
        if not self.has_repeats:
            return values.astype(np.float64)
        return np.bincount(self.record, weights=values, minlength=self.count).astype(np.float64)


class Members:
    """Which records are in which slice."""

    def __init__(self) -> None:
        self.slices: dict[Slice, int] = {}
        """The slices in the order in which they came, by number from 1; 0 is the whole run."""
        self._members: list[array[int]] = []
        self._remembered: dict[tuple[Slice, ...], tuple[int, ...]] = {}
        self._records = 0
        self.places: NDArray[Any] = np.zeros(0, dtype=np.int64)
        self.numbers: NDArray[Any] = np.zeros(0, dtype=np.int64)
        """The records of the newest batch that are in a slice, and the slice, pair by pair."""

    def extend(self, slices: Sequence[tuple[Slice, ...]]) -> None:
        """The slices of more records."""
        found = [
            self._numbers_of(keys) if known is None else known
            for keys, known in zip(slices, map(self._remembered.get, slices), strict=True)
        ]
        times = np.fromiter(map(len, found), dtype=np.int64, count=len(found))
        self.places = np.repeat(np.arange(len(found)), times)
        self.numbers = np.fromiter(chain.from_iterable(found), dtype=np.int64)
        order = np.argsort(self.numbers, kind="stable")
        ranked = self.numbers[order]
        members = (self.places[order] + self._records).astype(np.int32)
        starts = np.flatnonzero(np.diff(ranked, prepend=0))
        for start, part in zip(starts.tolist(), np.split(members, starts[1:]), strict=False):
            self._members[int(ranked[start]) - 1].frombytes(part.tobytes())
        self._records += len(found)

    def _numbers_of(self, keys: tuple[Slice, ...]) -> tuple[int, ...]:
        if not keys:
            return ()
        for key in keys:
            if key not in self.slices:
                self.slices[key] = len(self.slices) + 1
                self._members.append(array("i"))
        found = tuple(dict.fromkeys(self.slices[key] for key in keys))
        if len(self._remembered) < _REMEMBERED:
            self._remembered[keys] = found
        return found

    def records(self, number: int) -> Chosen:
        """The records of a slice; None for the whole run."""
        return np.frombuffer(self._members[number - 1], dtype=np.int32) if number else None


class Sums:
    """Totals by name, of the whole run and of every slice."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._totals: dict[Hashable, Numbers] = {}

    def add(self, name: Hashable, values: NDArray[Any]) -> None:
        """A number of every record of the newest batch."""
        if not values.any():
            return
        members = self._members
        found = np.bincount(
            members.numbers, weights=values[members.places], minlength=len(members.slices) + 1
        ).astype(np.float64)  # without slices it would be of whole numbers
        found[0] = values.sum()
        known = self._totals.get(name)
        if known is not None:
            found[: len(known)] += known
        self._totals[name] = found

    def total(self, name: Hashable, number: int = 0) -> float:
        """The total of a slice, or of the whole run."""
        found = self._totals.get(name)
        return float(found[number]) if found is not None and number < len(found) else 0.0

    def count(self, name: Hashable, number: int = 0) -> int:
        """The same where it is a count."""
        return round(self.total(name, number))
