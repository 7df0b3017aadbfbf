"""The records whose results an answer or a page shows, and what was noted of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from threading import Lock
from typing import NamedTuple

from steelyard.reports.run.slices_text import MIN_SLICE
from steelyard.results.metrics import Slice
from steelyard.results.records import RecordQuery
from steelyard.usecases.results.records import Records

_MOST = 200_000


class ShownResults(NamedTuple):
    """The records of a run whose results an answer or a page shows."""

    run_id: str
    indices: tuple[int, ...] | None
    """None for all of them."""


def shown_rows(run_id: str, indices: Iterable[int]) -> ShownResults:
    """Some records of a run, each once."""
    return ShownResults(run_id, tuple(dict.fromkeys(indices)))


def shown_list(
    run_id: str,
    query: RecordQuery,
    records: Records,
    indices: Collection[int],
    *,
    is_part: bool = False,
) -> ShownResults:
    """The records that a list decides about: one by results says something of absent ones too.

    `is_part` says that the list goes on beyond the page, in an order that was asked for.
    """
    is_telling = query.is_by_result or (is_part and query.is_in_order_of_results)
    if not is_telling:
        return shown_rows(run_id, indices)
    if query.record_id is None:
        return ShownResults(run_id, None)
    return shown_rows(run_id, (*indices, *records.indices(query.record_id)))


def shown_slices(run_id: str, slices: Iterable[Slice]) -> ShownResults:
    """All records of a run where a slice says what single ones were given; else none."""
    return ShownResults(run_id, None if any(map(_tells_verdicts, slices)) else ())


def _tells_verdicts(one: Slice) -> bool:
    """Whether a slice is small, or all of its records, or of a check in it, have one verdict."""
    rates = (one.pass_rate, *(check.pass_rate for check in one.checks.values()))
    is_small = one.evaluated_records > 0 and one.pass_rate.n < MIN_SLICE
    return is_small or any(rate.value in {0.0, 1.0} for rate in rates)


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
