"""The records whose results an answer or a page shows, and what was noted of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from threading import Lock
from typing import NamedTuple

from steelyard.reports.run.slices_text import MIN_SLICE
from steelyard.results.metrics import Interval, Metrics, QuestionMetrics, Slice, kept_metrics
from steelyard.results.records import RecordQuery
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.records import Records

_MOST = 200_000
_JUDGED = ("llm_judge", "questionnaire")
"""Kinds of checks whose verdicts people may be compared with."""


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


def shown_metrics(run_id: str, metrics: Metrics) -> ShownResults:
    """All records of a run where its numbers say what single ones were given; else none."""
    judged = (one for one in metrics.checks.values() if one.kind in _JUDGED)
    rates = (metrics.pass_rate, *(one.pass_rate for one in judged))
    is_small = metrics.evaluated_records > 0 and metrics.pass_rate.n < MIN_SLICE
    is_telling = is_small or any(map(_tells_all, rates)) or any(map(_is_alike, _asked(metrics)))
    return ShownResults(run_id, None if is_telling else ())


def shown_rate(run_id: str, rate: Interval) -> ShownResults:
    """All records of a run where its rate alone says what single ones were given; else none."""
    is_telling = 0 < rate.n < MIN_SLICE or _tells_all(rate)
    return ShownResults(run_id, None if is_telling else ())


def shown_summaries(runs: Iterable[StoredRun]) -> tuple[ShownResults, ...]:
    """What the metrics of runs say of single records."""
    return tuple(
        shown_metrics(one.run_id, kept_metrics(one.summary)) for one in runs if one.summary
    )


def shown_rates(runs: Iterable[StoredRun]) -> tuple[ShownResults, ...]:
    """What the pass rates of runs say of single records."""
    found = ((one.run_id, kept_metrics(one.summary)) for one in runs if one.summary)
    return tuple(shown_rate(run_id, metrics.pass_rate) for run_id, metrics in found)


def _tells_all(rate: Interval) -> bool:
    """Whether all records have one verdict."""
    return rate.value in {0.0, 1.0}


def _asked(metrics: Metrics) -> Iterable[QuestionMetrics]:
    """Questions about whole responses; those about turns have more answers than responses."""
    rows = max(metrics.rows, metrics.evaluated_records)
    return (one for one in metrics.questions.values() if 0 < one.answered <= rows)


def _is_alike(one: QuestionMetrics) -> bool:
    """Whether a judge gave all records one answer to a question, or very few records any."""
    return one.answered < MIN_SLICE or one.answered in (one.counts or {}).values()


def _tells_verdicts(one: Slice) -> bool:
    """Whether a slice is small, or all of its records, or of a check in it, have one verdict."""
    rates = (one.pass_rate, *(check.pass_rate for check in one.checks.values()))
    is_small = one.evaluated_records > 0 and one.pass_rate.n < MIN_SLICE
    return is_small or any(map(_tells_all, rates))


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
