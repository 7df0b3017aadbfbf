"""A record with all that is known of it, for people to look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from steelyard.errors import NotFoundError
from steelyard.model.labels.label import Label
from steelyard.model.question import QuestionRubric
from steelyard.model.statistics.validation import JudgeValidation
from steelyard.results.failures import Failure
from steelyard.results.predictions import Prediction
from steelyard.results.records import RecordView
from steelyard.results.stored_run import StoredRun
from steelyard.usecases.results.ports import ResultPorts
from steelyard.usecases.results.records import Records, show_record
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.record_labels import record_labels


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    """One repeat of a record, with the others beside it."""

    run: StoredRun
    records: Records
    """All records of the run."""
    view: RecordView
    row: Prediction | None
    """None where there is no result yet."""
    rubrics: tuple[str, ...]
    """The references of those that graded the run."""
    questions: tuple[QuestionRubric, ...]
    """Those of them that ask questions."""
    labels: tuple[Label, ...]
    validated: frozenset[str]
    """The judges that were ever compared with people."""

    @property
    def failure(self) -> Failure | None:
        """Why this repeat has no score."""
        return self.view.failures.get(self.row.place) if self.row else None


def shown_record(
    results: ResultPorts,
    review: ReviewPorts,
    name: str,
    place: tuple[int, int | None],
    validations: Iterable[JudgeValidation],
) -> ShownRecord:
    """A record of a run of the store, by index and repeat; without a repeat, its first."""
    index, repeat = place
    run = results.repository().find(name)
    records = stored_records(results, run.run_id)
    view = show_record(records, index)
    row = _repeat_of(view, index, repeat)
    setup = run.plan.setup if run.plan else UNSET
    names = () if setup is UNSET else tuple(one.rubric for one in setup.rubrics)
    rubrics = KnownRubrics(review.references)
    labels = _labels(review, rubrics, records, row, results.run_folder(run.run_id)) if row else ()
    asked = (rubrics.questions(one) for one in (*names, *(label.rubric for label in labels)))
    found = {one.version: one for one in asked if one}
    return ShownRecord(
        run=run,
        records=records,
        view=view,
        row=row,
        rubrics=names,
        questions=tuple(found.values()),
        labels=labels,
        validated=frozenset(one.judge for one in validations),
    )


def _repeat_of(view: RecordView, index: int, repeat: int | None) -> Prediction | None:
    rows = sorted(view.rows, key=lambda row: row.repeat)
    if not rows:
        return None
    if repeat is None:
        return rows[0]
    found = next((row for row in rows if row.repeat == repeat), None)
    if found is None:
        raise NotFoundError(f"record {index} has no repeat {repeat}")
    return found


def _labels(
    review: ReviewPorts, rubrics: KnownRubrics, records: Records, row: Prediction, folder: Path
) -> tuple[Label, ...]:
    """The labels of a response; an id that several records have names none of them."""
    name = row.record_id
    is_unique = name is not None and len(records.indices(name)) == 1
    names = (name,) if name is not None and is_unique else (str(row.index),)
    return record_labels(review, rubrics, folder, names, row.repeat)
