"""What a table of records is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.project import Project
from steelyard.results.metrics import Slice
from steelyard.results.records import CheckCounts, ResultCounts
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.judges.people_verdicts import PeopleOfRun, people_verdicts
from steelyard.usecases.results.read_run import is_run_folder
from steelyard.usecases.results.records import Records
from steelyard.web.records.record_address import RecordFilters


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSource:
    """What a table of records is made of."""

    run_id: str
    records: Records
    counts: ResultCounts
    looks: int
    """How many need a look."""
    people: PeopleOfRun | None
    slices: Sequence[Slice]
    is_pairwise: bool = False
    """Whether each record says which of two answers is preferred."""
    is_repeated: bool = False
    """Whether each record was asked several times: a row is a record in one repeat."""

    def known_number(self, query: RecordFilters) -> int | None:
        """How many records a query finds, where that is known without looking for them."""
        filters, counts, people = query.filters, self.counts, self.people
        if set(filters) == {"check", "passed"}:
            found = counts.checks.get(filters["check"], CheckCounts())
            return found.passed if query.passed else found.failed
        if len(filters) > 1:
            return None
        known: dict[tuple[str, object], int | None] = {
            ("passed", True): counts.passed,
            ("passed", False): counts.failed,
            ("only", "unscored"): counts.unscored,
            ("only", "split"): counts.split,
            ("only", "look"): self.looks,
            ("only", "read"): len(people.verdicts) if people else 0,
            ("only", "differs"): len(people.differing) if people else 0,
            **{("label", label): number for label, number in counts.labels.items()},
            **{("status", status): number for status, number in counts.statuses.items()},
            **{("slice", f"{one.slice}={one.value}"): one.rows for one in self.slices},
            **{("tag", one.value): one.rows for one in self.slices if one.slice == "tags"},
        }
        return known.get(next(iter(filters.items()))) if filters else counts.rows


def people_of_run(project: Project, run: StoredRun, records: Records) -> PeopleOfRun | None:
    """What people say of a finished run."""
    folder = project.result_ports().run_folder(run.run_id)
    if not is_run_folder(folder):
        return None
    return people_verdicts(project.review_ports(), folder, records)
