"""Rows whose ids nobody has compared yet: those of plug-ins, and cases made in code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.contracts.reading import DatasetReading, Referring, Row, RowPlace
from steelyard.formats.seen_ids import SeenIds
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue

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


class _Unique:
    """A dataset of a contract whose reader need not compare ids."""

    def __init__(self, reading: DatasetReading) -> None:
        self.contract = reading.contract
        self._reading = reading

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self._reading.findings

    @property
    def is_spoiled(self) -> bool:
        return self._reading.is_spoiled

    def rows(self) -> Iterator[Row]:
        return unique_rows(self._reading.rows())

    def case(self, row: Row) -> Case:
        return self._reading.case(row)

    def hashed(self, row: Row, case: Case) -> JsonValue:
        return self._reading.hashed(row, case)

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        return self._reading.dataset(cases)


class _UniqueReferring(_Unique):
    """The same where rows may name a rubric."""

    _reading: Referring

    def place_of(self, row: Row) -> RowPlace:
        return self._reading.place_of(row)
