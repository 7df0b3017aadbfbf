"""Rows whose ids nobody has compared yet: those of plug-ins, and cases made in code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.contracts.reading import (
    ChangedReading,
    DatasetReading,
    Referring,
    Row,
    RowPlace,
)
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.finding import Finding

_CODE = "duplicate_record_id"


def with_unique_ids(reading: DatasetReading) -> DatasetReading:
    """The same dataset; a row with the id of an earlier one has an error."""
    return _UniqueReferring(reading) if isinstance(reading, Referring) else _Unique(reading)


def unique_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """The same rows; one with the id of an earlier one has an error, unless it has it already."""
    seen = SeenIds()
    for row in rows:
        is_new = row.record_id is None or seen.add(row.record_id)
        if is_new or any(finding.code == _CODE for finding in row.findings):
            yield row
        else:
            yield row._replace(findings=(*row.findings, _duplicate(row)))


def _duplicate(row: Row) -> Finding:
    return Finding(
        severity="error",
        code=_CODE,
        message=f"id '{row.record_id}' is used by an earlier record",
        path="id",
        line=row.line,
        index=row.index,
        record_id=row.record_id,
    )


class _Unique(ChangedReading):
    """A dataset of a contract whose reader need not compare ids."""

    def rows(self) -> Iterator[Row]:
        return unique_rows(self._reading.rows())


class _UniqueReferring(_Unique):
    """The same where rows may name a rubric."""

    _reading: Referring

    def place_of(self, row: Row) -> RowPlace:
        return self._reading.place_of(row)
