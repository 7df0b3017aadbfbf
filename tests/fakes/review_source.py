"""A project with a queue over responses that are written down in a test."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fakes.reviews import ReviewProject, check, response, says
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, Picked
from steelyard.model.labels.queue import QueueSource, ReviewItem
from steelyard.model.question import QuestionRubric
from steelyard.store.ids import new_item_id, new_queue_id, new_token
from steelyard.store.review.assignments import AssignmentStore
from steelyard.store.review.decisions import DecisionStore
from steelyard.store.review.progress import ReviewProgress
from steelyard.store.review.queues import QueueStore
from steelyard.store.review.results_seen import SeenResults
from steelyard.usecases.review.assign import AssignmentRequest, assign, picked_records
from steelyard.usecases.review.queues.annotating import Annotator
from steelyard.usecases.review.queues.create_queue import Fill, NewQueue, create_queue
from steelyard.usecases.review.queues.ports import (
    JudgedItem,
    QueuePorts,
    ResponseContent,
    ShownTrace,
)

RUN = "run_1"
ANN = Annotator(name="ann", has_login=True)
BOB = Annotator(name="bob", has_login=True)


class FolderTraces:
    """The responses of a folder, as a source of queues."""

    def __init__(self, project: ReviewProject, run_id: str = RUN) -> None:
        self._project = project
        self._run = run_id

    @property
    def ids(self) -> tuple[str, ...]:
        """The run alone."""
        return (self._run,)

    def default_rubric(self) -> str | None:
        """The one rubric of the run."""
        return "rubric/desk-v1"

    def draw(self, rubric: str, choice: AssignmentChoice, slice_name: str | None) -> Assignment:
        """A sample of the responses."""
        request = AssignmentRequest(run=RUN, choice=choice, rubric=rubric, slice=slice_name)
        return assign(self._project.ports, request)

    def pick(self, places: Sequence[tuple[int, int]]) -> Picked:
        """Given responses."""
        return picked_records(self._project.ports, RUN, places)

    def show(self, index: int, repeat: int) -> ShownTrace:
        """One response."""
        trace = self._row(index, repeat)["trace"]
        return ShownTrace(request=None, trace=trace, expected=None, turns=len(trace["messages"]))

    def content(self, index: int, repeat: int) -> ResponseContent:
        """One response with its record."""
        row = self._row(index, repeat)
        return ResponseContent(row["record_id"], row["record_sha256"], row["trace"]["messages"])

    def holding(self, content: ResponseContent, index: int) -> Sequence[int]:
        """The records with the same content, by id."""
        assert content.record_id == f"r{index}"
        return [index] if self.content(index, 0) == content else []

    def named(self, record: str) -> Sequence[int]:
        """The record with an id."""
        return [int(record.removeprefix("r"))]

    def judged(self, rubric: QuestionRubric, index: int, repeat: int) -> Sequence[JudgedItem]:
        """What the judge of the run answered."""
        return [
            JudgedItem(
                run_id=RUN,
                check=one["check"],
                judge=one["judge"],
                answers=one["answers"],
                reason=None,
                details=one["details"],
            )
            for one in self._row(index, repeat)["evaluator_scores"]
            if rubric.version == "desk-v1"
        ]

    def _row(self, index: int, repeat: int) -> Any:
        path = self._project.folder_of(self._run) / "predictions.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return next(row for row in rows if (row["index"], row["repeat"]) == (index, repeat))


class QueueProject(ReviewProject):
    """A sealed run of judged responses, and queues over it."""

    def __init__(self, root: Path, records: int = 4) -> None:
        super().__init__(root)
        self.run([response(n, check(says(correct=n % 2, tone="warm"))) for n in range(records)])
        self.queue_ports = queue_ports(self)

    def queue(self, size: int = 2, reviews: int = 1, **more: Any) -> str:
        """The id of a new queue."""
        new = NewQueue(
            name="Desk",
            source=QueueSource(kind="run", id=RUN),
            fill=Fill(size=size, by=more.pop("by", "random"), places=more.pop("places", ())),
            reviews_required=reviews,
        )
        return create_queue(self.queue_ports, replace(new, **more)).queue.queue_id

    def items(self, queue_id: str) -> list[ReviewItem]:
        """The items of a queue."""
        return self.queue_ports.queues.items(queue_id)


def queue_ports(project: ReviewProject) -> QueuePorts:
    """What the queues of a project need, with its database as it is now."""
    engine = project.engine
    return QueuePorts(
        review=project.ports,
        queues=QueueStore(engine, lambda: new_item_id(1)),
        assignments=AssignmentStore(engine, new_token),
        progress=ReviewProgress(engine),
        decisions=DecisionStore(engine),
        seen=SeenResults(engine),
        source=lambda source: FolderTraces(project, source.id),
        new_queue_id=lambda: new_queue_id(1),
        clock=project.ports.clock,
    )
