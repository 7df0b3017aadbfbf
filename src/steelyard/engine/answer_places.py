"""Where answers are kept, so that they are found again, in some thirty bytes each."""

from __future__ import annotations

from array import array
from typing import NamedTuple

_INDEX_BITS, _REPEAT_BITS = 32, 16
_MOST_RUNS = 1 << (64 - _INDEX_BITS - _REPEAT_BITS)
_MOST_INDICES = 1 << _INDEX_BITS
_MOST_REPEATS = 1 << _REPEAT_BITS
_HASH_BITS = (1 << 64) - 1
_FIRST_SIZE = 1024


class AnswerPlace(NamedTuple):
    """The result that holds an answer."""

    run_id: str
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    repeat: int


class _Table(NamedTuple):
    """Open addressing: 64-bit hashes of keys, none of them 0, and a place beside each."""

    size: int
    marks: array[int]
    places: array[int]

    @classmethod
    def of_size(cls, size: int) -> _Table:
        return cls(size, array("Q", bytes(8 * size)), array("Q", bytes(8 * size)))

    def slot(self, mark: int) -> int:
        """Where a mark stands, or would stand."""
        size, marks, _ = self
        slot = mark % size
        while (found := marks[slot]) and found != mark:
            slot = slot + 1 if slot + 1 < size else 0
        return slot


class AnswerPlaces:
    """The place of every answer by a hash of its question.

    Two questions may share a hash: whoever reads an answer compares them. What does not fit into
    a place is not remembered. One thread adds; others may look for a place meanwhile.
    """

    def __init__(self) -> None:
        self._runs: dict[str, int] = {}
        self._run_ids: list[str] = []
        self._table = _Table.of_size(_FIRST_SIZE)
        self._count = 0

    def add(self, key: bytes, run_id: str, index: int, repeat: int) -> None:
        """Remember where a question is answered."""
        run = self._runs.get(run_id)
        if run is None:
            run = self._runs[run_id] = len(self._run_ids)
            self._run_ids.append(run_id)
        if run >= _MOST_RUNS or index >= _MOST_INDICES or repeat >= _MOST_REPEATS:
            return
        mark, table = _mark(key), self._table
        slot = table.slot(mark)
        table.places[slot] = (run * _MOST_INDICES + index) * _MOST_REPEATS + repeat
        if not table.marks[slot]:
            # Last, so that nobody finds a mark without its place.
            table.marks[slot] = mark
            self._count += 1
            if 4 * self._count >= 3 * table.size:
                self._grow()

    def __contains__(self, key: bytes) -> bool:
        """Whether a question is known to be answered."""
        table = self._table
        return table.marks[table.slot(_mark(key))] != 0

    def note(self, key: bytes) -> None:
        """An answer is there, and its place is not yet known: it will be added."""

    def find(self, key: bytes) -> AnswerPlace | None:
        """Where a question is answered, if it is known."""
        mark, table = _mark(key), self._table
        slot = table.slot(mark)
        if not table.marks[slot]:
            return None
        rest, repeat = divmod(table.places[slot], _MOST_REPEATS)
        run, index = divmod(rest, _MOST_INDICES)
        return AnswerPlace(self._run_ids[run], index, repeat)

    def _grow(self) -> None:
        old = self._table
        table = _Table.of_size(old.size * 3 // 2)
        for mark, place in zip(old.marks, old.places, strict=True):
            if mark:
                slot = table.slot(mark)
                table.marks[slot] = mark
                table.places[slot] = place
        self._table = table


def _mark(key: bytes) -> int:
    return hash(key) & _HASH_BITS or 1
