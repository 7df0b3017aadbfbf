"""A dataset whose rows are also checked for their references to rubrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

from steelyard.contracts.reading import ChangedReading, DatasetReading, Referring, Row
from steelyard.formats.json_fields import fields
from steelyard.formats.problem import Problem
from steelyard.model.finding import Finding
from steelyard.usecases.registry.references import References, Resolution

_PATH = ("rubric_ref",)


def with_references(
    reading: DatasetReading, references: Callable[[], References]
) -> DatasetReading:
    """The same dataset, with an error for each row whose reference cannot be resolved.

    A dataset whose rows name no rubrics is returned unchanged; the project is read at the
    first reference.
    """
    return ReferencedReading(reading, references) if isinstance(reading, Referring) else reading


class ReferencedReading(ChangedReading):
    """A dataset together with the rubrics and judges of its project."""

    _reading: Referring

    def __init__(self, reading: Referring, references: Callable[[], References]) -> None:
        super().__init__(reading)
        # Looked up once: finding a project costs more than a thousand rows.
        self._references = cache(references)

    def rows(self) -> Iterator[Row]:
        """Every row, with the problems of its reference.

        Warnings about a rubric are reported at the first row that refers to it.
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
    """Whether the row already has an error for its reference."""
    return any(finding.path.endswith(".rubric_ref") for finding in row.findings)
