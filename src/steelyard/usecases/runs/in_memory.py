"""A dataset that is in memory already, read like a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from steelyard.contracts.dataset_document.writer import write_dataset_document
from steelyard.contracts.eval_cases.writer import case_row
from steelyard.contracts.evals_json.writer import eval_row
from steelyard.contracts.hashes import file_hashes
from steelyard.contracts.legal_eval.writer import case_row as legal_row
from steelyard.contracts.question_set.writer import question_row
from steelyard.contracts.reading import Row
from steelyard.formats.json_hash import record_sha256
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue

_DOCUMENT = "dataset_document"
_ROWS: dict[str, Callable[[Case], JsonObject]] = {
    "legal_eval": legal_row,
    "question_set": question_row,
    "evals_json": eval_row,
}
"""How a contract writes a case; the others write eval cases."""
_WITHOUT_FILES = (_DOCUMENT, "question_set", "evals_json")


class DatasetInMemory:
    """The cases of a dataset as rows."""

    is_spoiled = False

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.contract = dataset.contract
        self.findings: tuple[Finding, ...] = ()

    def rows(self) -> Iterator[Row]:
        """One row a case, as its contract writes it."""
        for index, case in enumerate(self._dataset.cases):
            yield Row(index, case.place.line, case.id, self._value(case), ())

    def case(self, row: Row) -> Case:
        """The case itself."""
        return self._dataset.cases[row.index]

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """What the contract's own reader would say."""
        if self.contract in _WITHOUT_FILES:
            return row.value
        return {**cast(JsonObject, row.value), "files": file_hashes(case)}

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        return replace(self._dataset, cases=cases)

    def digest(self) -> str:
        """A hash over all cases."""
        total = hashlib.sha256()
        for row in self.rows():
            total.update(record_sha256(row.value).encode("ascii"))
        return total.hexdigest()

    def _value(self, case: Case) -> JsonValue:
        if self.contract != _DOCUMENT:
            return _ROWS.get(self.contract, case_row)(case)
        document = json.loads(write_dataset_document(replace(self._dataset, cases=(case,))))
        return document["records"][0]
