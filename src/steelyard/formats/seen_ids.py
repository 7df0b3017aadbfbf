"""Which names have been seen, in a few bytes each."""

from __future__ import annotations

from array import array


class SeenIds:
    """The ids of a file, to find duplicates in at most 16 bytes an id.

    An open-addressing table of 64-bit hashes: for a million ids the chance that two different
    ones meet is below one in ten million.
    """

    __slots__ = ("_count", "_most", "_size", "_table")

    def __init__(self) -> None:
        self._size = 1024
        self._table = array("q", bytes(8 * self._size))
        self._count = 0
        self._most = 768
        """How many ids fill three quarters of the table."""

    def add(self, name: str) -> bool:
        """Remember an id; whether it was new."""
        if self._count >= self._most:
            self._grow()
        mark = hash(name) or 1
        table, size = self._table, self._size
        slot = mark % size
        while found := table[slot]:
            if found == mark:
                return False
            slot = slot + 1 if slot + 1 < size else 0
        table[slot] = mark
        self._count += 1
        return True

    def __contains__(self, name: str) -> bool:
        mark = hash(name) or 1
        table, size = self._table, self._size
        slot = mark % size
        while (found := table[slot]) and found != mark:
            slot = slot + 1 if slot + 1 < size else 0
        return found == mark

    def _grow(self) -> None:
        old = self._table
        self._size = self._size * 3 // 2
        self._most = self._size * 3 // 4
        table = array("q", bytes(8 * self._size))
        size = self._size
        for mark in old:
            if mark:
                slot = mark % size
                while table[slot]:
                    slot = slot + 1 if slot + 1 < size else 0
                table[slot] = mark
        self._table = table
