"""What was computed from finished runs, kept while it is asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TypeVar, cast

_MOST = 128
Found = TypeVar("Found")


class KeptResults:
    """The last values by everything that they depend on, such as the hash of a run's manifest.

    Two threads that ask at the same time may both compute a value.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, object] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Hashable, make: Callable[[], Found]) -> Found:
        """The value of a key; computed where it is not known."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("Found", self._kept[key])
        made = make()
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
