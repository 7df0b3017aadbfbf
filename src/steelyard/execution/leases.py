"""What the process that holds a run hands out to its workers: records and money."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import pairwise
from math import ceil
from typing import TypeAlias

from steelyard.engine.schedule import AHEAD

Lease: TypeAlias = tuple[int, int]
"""The first index, and the one after the last."""
MOST = 128
"""Records of a lease: enough that asking for it costs nothing beside them."""
_PER_WORKER = 4
"""A lease is at most this part of a worker's share of what is left, so that all end together."""
_SLICES = 8


class RecordLeases:
    """Leases ranges of records in dataset order; each record goes to one worker.

    Whoever asks gets the next ones, until no more is left than all workers take at once. That is
    divided evenly, also among those that have yet to ask: a small run is not all for the first.
    The records of a worker that died go to its successor, who knows what of them is done. Nobody
    needs to know where the dataset ends: a lease beyond it is empty.
    """

    def __init__(self, records: int, workers: int, calls: int) -> None:
        """`calls` are those at once that all workers together may make."""
        self._records = records
        self._workers = workers
        self._last = max(AHEAD, 2 * ceil(calls / workers))
        """What a worker takes at once: it claims as many calls before it makes them."""
        self._begin = 0
        self._portions: dict[int, Lease] = {}
        """What is left for each worker."""
        self._held: defaultdict[int, list[Lease]] = defaultdict(list)
        self._again: defaultdict[int, deque[Lease]] = defaultdict(deque)

    def lease(self, worker: int) -> Lease:
        """The next records of a worker."""
        if self._again[worker]:
            return self._again[worker].popleft()
        if 0 < self._left <= self._workers * self._last:
            self._divide()
        lease = self._portions.pop(worker, None) or self._next()
        self._held[worker].append(lease)
        return lease

    def take_back(self, worker: int) -> None:
        """A worker is gone: its successor gets the same records first."""
        self._again[worker] = deque(self._held[worker])

    @property
    def _left(self) -> int:
        return self._records - self._begin

    def _next(self) -> Lease:
        size = min(MOST, self._left // (self._workers * _PER_WORKER)) if self._left > 0 else MOST
        begin, self._begin = self._begin, self._begin + size
        return begin, self._begin

    def _divide(self) -> None:
        """Give every worker its part of what is left."""
        ends = [self._begin + self._left * n // self._workers for n in range(self._workers + 1)]
        self._portions = {n: one for n, one in enumerate(pairwise(ends)) if one[0] < one[1]}
        self._begin = self._records


class BudgetGrants:
    """Grants a budget to workers bit by bit, never more than there is.

    What a worker that was killed has not spent is not granted again in this process, since calls
    of it may have been paid for.
    """

    def __init__(self, limit_usd: float | None, spent_usd: float, workers: int) -> None:
        self._left = None if limit_usd is None else max(0.0, limit_usd - spent_usd)
        self._slices = workers * _SLICES

    def grant(self, wanted: float) -> float:
        """As much as is wanted, or a small part of what is left if that is more."""
        if self._left is None:
            return 0.0
        granted = min(self._left, max(wanted, self._left / self._slices))
        self._left -= granted
        return granted
