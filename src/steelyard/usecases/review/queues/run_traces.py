"""The responses of a run as a source of review queues."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec

from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, Picked
from steelyard.model.labels.queue import QueueSource
from steelyard.model.question import QuestionRubric
from steelyard.model.rubric import Rubric
from steelyard.results.predictions import CheckScore, Prediction
from steelyard.results.projections import COMPOSITE
from steelyard.usecases.results.ports import ResultPorts
from steelyard.usecases.results.records import show_record
from steelyard.usecases.results.sealed_files import stored_records
from steelyard.usecases.review.assign import AssignmentRequest, assign, picked_records
from steelyard.usecases.review.judgements import keys_of
from steelyard.usecases.review.ports import ReviewPorts
from steelyard.usecases.review.queues.ports import (
    JudgedItem,
    ResponseContent,
    ShownTrace,
    TraceSource,
)
from steelyard.usecases.review.reviewed_runs import response_runs

UNGRADED = Rubric(id="nothing", version="1.0.0", checks=(), grading_sha256="")
"""What the traces of a set are graded by that people look at before any judge: nothing."""


def open_source(review: ReviewPorts, results: ResultPorts, source: QueueSource) -> TraceSource:
    """The source of a queue."""
    if source.kind != "run":
        raise InvalidError("review queues are made from runs")
    return RunTraces(review, results, source.id)


class RunTraces:
    """The responses of one finished run."""

    def __init__(self, review: ReviewPorts, results: ResultPorts, run_id: str) -> None:
        self._review = review
        self._results = results
        self._run = results.repository().find(run_id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The run and those whose responses it grades again."""
        return response_runs(self._results.run_folder(self._run.run_id)) or (self._run.run_id,)

    def default_rubric(self) -> str | None:
        """The reference of the one rubric that graded the run."""
        names = self._rubrics()
        return names[0] if len(names) == 1 and names != (UNGRADED.name,) else None

    def draw(self, rubric: str, choice: AssignmentChoice, slice_name: str | None) -> Assignment:
        """A sample of the responses with inclusion probabilities."""
        request = AssignmentRequest(
            run=self._run.run_id, choice=choice, rubric=rubric, slice=slice_name
        )
        return assign(self._review, request)

    def pick(self, places: Sequence[tuple[int, int]]) -> Picked:
        """Given responses."""
        return picked_records(self._review, self._run.run_id, places)

    def show(self, index: int, repeat: int) -> ShownTrace:
        """One response without its results."""
        row = self._row(index, repeat)
        if row.trace is None:
            raise NotFoundError(f"record {index} of {self._run.run_id} has no response")
        messages = cast("list[dict[str, Any]]", row.trace["messages"])
        return ShownTrace(
            request=row.request,
            trace=row.trace,
            expected=row.expected,
            turns=sum(one["role"] == "assistant" for one in messages),
        )

    def content(self, index: int, repeat: int) -> ResponseContent:
        """What makes a response the same as one of another run."""
        return _content(self._row(index, repeat))

    def holding(self, content: ResponseContent, index: int) -> Sequence[int]:
        """The indices of records with the same content; `index` is tried if it has no id."""
        if content.record_sha256 is None:
            return []
        records = stored_records(self._results, self._run.run_id)
        name = content.record_id
        tried = [index] if name is None else records.indices(name)
        return [one for one in tried if content in map(_content, records.record(one).rows)]

    def named(self, record: str) -> Sequence[int]:
        """The indices of records with an id, else of the one with this index."""
        records = stored_records(self._results, self._run.run_id)
        return [*{row.index for row in show_record(records, record).rows}]

    def judged(self, rubric: QuestionRubric, index: int, repeat: int) -> Sequence[JudgedItem]:
        """What judges answered about one response with a question rubric."""
        row = self._row(index, repeat)
        name, graded_by = str(rubric.reference), self._rubrics()
        return [
            JudgedItem(
                run_id=self._run.run_id,
                check=check.check,
                judge=check.judge,
                answers=cast(JsonObject, check.answers),
                reason=check.reason,
                details=cast(JsonObject, check.details),
            )
            for check, within in _checks(row.evaluator_scores, None)
            if isinstance(check.answers, dict)
            and (within == name or (within is None and name in graded_by))
            and keys_of(cast(JsonObject, check.answers)) <= {one.key for one in rubric.questions}
        ]

    def _rubrics(self) -> tuple[str, ...]:
        plan = self._run.plan
        return tuple(one.rubric for one in plan.setup.rubrics) if plan and plan.setup else ()

    def _row(self, index: int, repeat: int) -> Prediction:
        records = stored_records(self._results, self._run.run_id)
        rows = show_record(records, index, repeat).rows
        if not rows:
            raise NotFoundError(f"record {index} of {self._run.run_id} has no result")
        return rows[0]


def _content(row: Prediction) -> ResponseContent:
    messages = row.trace["messages"] if row.trace else None
    return ResponseContent(row.record_id, row.record_sha256, messages)


def _checks(
    found: Iterable[CheckScore], rubric: str | None
) -> Iterator[tuple[CheckScore, str | None]]:
    """Every check with the rubric within which it stands, composites opened."""
    for check in found:
        yield check, rubric
        details = cast(JsonObject, check.details) if isinstance(check.details, dict) else {}
        if check.kind == COMPOSITE and "results" in details:
            inner = msgspec.convert(details["results"], tuple[CheckScore, ...], strict=False)
            yield from _checks(inner, str(details.get("rubric") or ""))
