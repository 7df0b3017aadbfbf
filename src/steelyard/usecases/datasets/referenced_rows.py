"""A dataset whose rows are also checked for the rubrics that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from steelyard.contracts.reading import DatasetReading, Referring, Row
from steelyard.formats.json_fields import fields
from steelyard.formats.problem import Problem
from steelyard.model.case import Case
from steelyard.model.dataset import Dataset
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonValue
from steelyard.usecases.registry.references import References, Resolution

_PATH = ("rubric_ref",)


def with_references(
    reading: DatasetReading, references: Callable[[], References]
) -> DatasetReading:
    """The same dataset; a row whose reference leads nowhere has an error more.

    A dataset whose rows name no rubrics comes back as it is, and the project is looked at when
    the first reference is met.
    """
    return ReferencedReading(reading, references) if isinstance(reading, Referring) else reading


class ReferencedReading:
    """A dataset together with the rubrics and judges of its project."""

    def __init__(self, reading: Referring, references: Callable[[], References]) -> None:
        self.contract = reading.contract
        self._reading = reading
        # Looked up once: finding a project costs more than a thousand rows.
        self._references = cache(references)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What concerns the file as a whole."""
        return self._reading.findings

    @property
    def is_spoiled(self) -> bool:
        """Whether the file is wrong as a whole and no row counts."""
        return self._reading.is_spoiled

    def rows(self) -> Iterator[Row]:
        """Every row, with what is wrong with its reference.

        Warnings about what a rubric leads to stand at the first row that leads there.
        """
        reported: set[Problem] = set()
        for row in self._reading.rows():
            text = row.value.get("rubric_ref") if isinstance(row.value, dict) else None
            if not isinstance(text, str) or _has_reference_error(row):
                yield row
                continue
            resolution = self._references().rubric(text)
            if resolution.is_plain:
                yield row
                continue
            found = tuple(self._found(row, resolution, reported))
            yield row._replace(findings=(*row.findings, *found))

    def case(self, row: Row) -> Case:
        """The case that an accepted row stands for."""
        return self._reading.case(row)

    def hashed(self, row: Row, case: Case) -> JsonValue:
        """What `record_sha256` is taken over."""
        return self._reading.hashed(row, case)

    def dataset(self, cases: tuple[Case, ...]) -> Dataset:
        """The dataset with the given cases."""
        return self._reading.dataset(cases)

    def _found(
        self, row: Row, resolution: Resolution, reported: set[Problem]
    ) -> Iterator[Finding]:
        bundle = fields(row.value).get("bundle")
        domain = bundle if isinstance(bundle, str) else None
        notes = [note for note in resolution.notes if note not in reported]
        reported.update(notes)
        place = self._reading.place_of(row)
        for problem in (*resolution.problems, *resolution.out_of_scope(domain), *notes):
            message = f"{{}}: {problem.message}"
            yield place.finding(replace(problem, path=_PATH, message=message))


def _has_reference_error(row: Row) -> bool:
    """Whether the row's reference is wrong already."""
    return any(finding.path.endswith(".rubric_ref") for finding in row.findings)
