"""Records of a run without a row, because its dataset could not be read to the end."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from steelyard.engine.metrics.extent import ALL_ROWS, Extent
from steelyard.results.metrics import Metrics, Missing


class PlannedRecords(NamedTuple):
    """The records that a run accepted when it began."""

    records: int | None = None
    """How many; None where that is not known."""
    valid: int | None = None
    """How many of them are valid; None, in runs of earlier versions, counts as all."""
    repeats: int = 1

    @property
    def extent(self) -> Extent:
        """What its metrics are to cover."""
        return ALL_ROWS if self.records is None else Extent(self.records, self.repeats)


def with_unread(metrics: Metrics, planned: PlannedRecords) -> Metrics:
    """The metrics with every record that has no row: invalid as it was planned, else cancelled.

    Their bounds must be those of the whole extent already.
    """
    if planned.records is None:
        return metrics
    unread = max(0, planned.records - metrics.total_records)
    known_invalid = 0 if planned.valid is None else planned.records - planned.valid
    invalid = min(unread, max(0, known_invalid - metrics.invalid_records))
    valid = metrics.valid_records + unread - invalid
    missing = structs.replace(
        metrics.missing or Missing(), missing=valid - metrics.evaluated_records, valid=valid
    )
    return structs.replace(
        metrics,
        total_records=metrics.total_records + unread,
        valid_records=valid,
        failed_records=metrics.failed_records + invalid,
        invalid_records=metrics.invalid_records + invalid,
        skipped_records=metrics.skipped_records + unread - invalid,
        cancelled_records=metrics.cancelled_records + unread - invalid,
        missing=missing,
        unread_records=unread,
    )
