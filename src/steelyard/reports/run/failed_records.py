"""The first records of a run that did not pass, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.reports.numbers import count
from steelyard.reports.record.record_fold import record_fold
from steelyard.results.metrics import Metrics
from steelyard.results.predictions import Prediction


def failed_lines(rows: Sequence[Prediction], metrics: Metrics) -> Iterator[str]:
    """A heading with the number of all of them, and a fold for each of the first."""
    if not rows:
        return
    total = metrics.total_records - metrics.pass_count
    first = f"; the first {count(len(rows))}" if len(rows) < total else ""
    yield f"**Not passed: {count(total)} of {count(metrics.total_records)} records{first}**"
    yield ""
    for row in rows:
        yield from record_fold(row, is_repeated=metrics.repeats is not None)
