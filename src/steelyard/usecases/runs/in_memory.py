"""A dataset in memory, read like a file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace

from steelyard.contracts.contract import Contract
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.reading import Row
from steelyard.contracts.unique_ids import unique_rows
from steelyard.formats.json_fields import fields
from steelyard.formats.json_hash import record_sha256
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue


class DatasetInMemory:
    """The cases of a dataset as rows."""

    is_spoiled = False

    def __init__(self, dataset: Dataset, contract: Contract) -> None:
        self._dataset = dataset
        self._shows_files = contract.shows_files
        self._value: Callable[[Case], JsonObject] = contract.part("row")
        self.contract = dataset.contract
        self.findings: tuple[Finding, ...] = ()

    def rows(self) -> Iterator[Row]:
        """One row a case, as its contract writes it."""
        return unique_rows(
            Row(index, case.place.line, case.id, self._value(case), ())
            for index, case in enumerate(self._dataset.cases)
        )

    def case(self, row: Row) -> Case:
        """The case itself."""
        return self._dataset.cases[row.index]

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """The value that the contract's reader would hash."""
        if not self._shows_files:
            return row.value
        return {**fields(row.value), "files": file_hashes(case)}

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        return replace(self._dataset, cases=cases)

    def digest(self) -> str:
        """A hash over all cases."""
        total = hashlib.sha256()
        for row in self.rows():
            total.update(record_sha256(row.value).encode("ascii"))
        return total.hexdigest()
