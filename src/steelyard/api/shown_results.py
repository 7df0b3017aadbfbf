"""The records whose results an answer or a page shows, and what was noted of that."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock
from typing import NamedTuple

_MOST = 200_000


class ShownResults(NamedTuple):
    """The records of a run whose results an answer or a page shows."""

    run_id: str
    indices: tuple[int, ...] | None
    """None for all of them."""


def shown_rows(run_id: str, indices: Iterable[int]) -> ShownResults:
    """Some records of a run, each once."""
    return ShownResults(run_id, tuple(dict.fromkeys(indices)))


class NotedResults:
    """What this process has noted, so that nothing is written twice."""

    def __init__(self) -> None:
        self._noted: set[tuple[str, str, int | None]] = set()
        self._lock = Lock()

    def missing(self, person: str, shown: ShownResults) -> ShownResults | None:
        """What is not noted yet; None if everything is."""
        if (person, shown.run_id, None) in self._noted:
            return None
        if shown.indices is None:
            return shown
        left = [one for one in shown.indices if (person, shown.run_id, one) not in self._noted]
        return shown_rows(shown.run_id, left) if left else None

    def add(self, person: str, shown: ShownResults) -> None:
        """Remember what was noted, in bounded memory."""
        with self._lock:
            if len(self._noted) > _MOST:
                self._noted.clear()
            indices = (None,) if shown.indices is None else shown.indices
            self._noted.update((person, shown.run_id, one) for one in indices)
