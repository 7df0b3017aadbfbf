"""Make a review queue: draw its items, and say how precise its labels can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from steelyard.contracts.question_rubric.writer import rubric_row
from steelyard.errors import InvalidError, argument
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, ChosenBy
from steelyard.model.labels.queue import (
    FilledBy,
    QueueSource,
    QueueStatus,
    Reveal,
    ReviewItem,
    ReviewQueue,
)
from steelyard.model.names import require_name
from steelyard.model.question import QuestionRubric
from steelyard.review.label_precision import LabelPrecision, label_precision
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.queues.outdated_items import assign_again
from steelyard.usecases.review.queues.ports import QueuePorts, TraceSource

MOST_REVIEWS = 20
MOST_ITEMS = 50_000
MAX_INSTRUCTIONS = 20_000
MOST_NAME = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """How the items of a queue are drawn."""

    by: FilledBy = "random"
    size: int = 100
    slice: str | None = None
    """The slice that defines the strata of a stratified draw; by default the verdict."""
    is_equal: bool = False
    """Whether strata give equally many items; those of `verdict` always do."""
    seed: int = 0
    queue: str | None = None
    """The queue whose outdated items are asked again; the rest of the draw is that queue's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQueue:
    """A queue to be made."""

    name: str
    source: QueueSource
    fill: Fill
    rubric: str | None = None
    """The question rubric; by default the one that graded the run."""
    reviews_required: int = 1
    reveal: Reveal = "after_commit"
    instructions: str | None = None


class CreatedQueue(NamedTuple):
    """A new queue, and what its labels will be worth."""

    queue: ReviewQueue
    items: int
    precision: LabelPrecision


def create_queue(
    ports: QueuePorts, new: NewQueue, *, caller: Caller | None = None
) -> CreatedQueue:
    """Draw the items of a source and keep them as a queue."""
    ports = ports.called_by(caller)
    _require_valid(new)
    source = ports.source(new.source)
    rubric = _rubric(ports, new, source)
    drawn = _drawn(ports, new.fill, source, rubric)
    queue = ReviewQueue(
        queue_id=ports.new_queue_id(),
        name=new.name,
        source=QueueSource(kind=new.source.kind, id=drawn.run_id),
        rubric=str(rubric.reference),
        rubric_sha256=rubric.sha256,
        rubric_row=rubric_row(rubric),
        reviews_required=new.reviews_required,
        reveal=new.reveal,
        instructions=new.instructions,
        design=_design(new.fill, drawn),
        created_at=ports.clock.stamp(),
        created_by=ports.caller.actor,
    )
    items = [
        ReviewItem(
            item_id="",
            queue_id=queue.queue_id,
            place=place,
            index=one.candidate.index,
            repeat=one.candidate.repeat,
            record_id=one.candidate.record_id,
            inclusion_prob=one.inclusion_prob,
            stratum=one.stratum,
        )
        for place, one in enumerate(drawn.assigned, start=1)
    ]
    ports.review.fix_published({queue.rubric}, ports.caller)
    entry = ports.entry("create_queue", queue.queue_id, name=new.name, items=len(items))
    ports.queues.create(queue, items, entry)
    chances = [one.inclusion_prob for one in items]
    return CreatedQueue(queue, len(items), label_precision(chances, drawn.records))


def queue_again(
    ports: QueuePorts, queue_id: str, rubric: str | None, *, caller: Caller | None = None
) -> CreatedQueue:
    """A queue like another one of its outdated items, under the rubric as it is now."""
    before = ports.queues.find(queue_id)
    new = NewQueue(
        name=f"{before.name[:MOST_NAME]} (again)",
        source=before.source,
        fill=Fill(by="outdated", queue=queue_id),
        rubric=rubric,
        reviews_required=before.reviews_required,
        reveal=before.reveal,
        instructions=before.instructions,
    )
    return create_queue(ports, new, caller=caller)


def set_queue_status(
    ports: QueuePorts, queue_id: str, status: QueueStatus, *, caller: Caller | None = None
) -> ReviewQueue:
    """Open a queue for claims, or close it; items that people hold can still be finished."""
    ports = ports.called_by(caller)
    verb = "open_queue" if status == "open" else "close_queue"
    ports.queues.set_status(queue_id, status, ports.entry(verb, queue_id))
    return ports.queues.find(queue_id)


def _require_valid(new: NewQueue) -> None:
    require_name("`name`", new.name)
    if not 1 <= new.reviews_required <= MOST_REVIEWS:
        raise InvalidError(
            f"`reviews_required` must be from 1 to {MOST_REVIEWS}, not {new.reviews_required}"
        )
    if not 1 <= new.fill.size <= MOST_ITEMS:
        raise InvalidError(f"a queue has 1 to {MOST_ITEMS:,} items, not {new.fill.size:,}")
    if new.instructions is not None and len(new.instructions) > MAX_INSTRUCTIONS:
        raise InvalidError(f"instructions have at most {MAX_INSTRUCTIONS:,} characters")
    if new.fill.slice is not None and new.fill.by != "stratified":
        raise InvalidError("only a stratified draw has a slice")
    if (new.fill.by == "outdated") != (new.fill.queue is not None):
        raise InvalidError("`queue` belongs to `outdated`: whose items are asked again")


def _rubric(ports: QueuePorts, new: NewQueue, source: TraceSource) -> QuestionRubric:
    before = ports.queues.find(new.fill.queue) if new.fill.queue else None
    name = new.rubric or (before.rubric if before else source.default_rubric())
    if name is None:
        raise InvalidError(f"name the question rubric to answer with {argument('rubric')}")
    found = KnownRubrics(ports.review.references).find(name)
    if isinstance(found, str):
        raise InvalidError(found)
    known = ports.review.references.find(found.reference).problems
    if any(problem.code == "archived_rubric" for problem in known):
        raise InvalidError(f"{found.reference} is archived; a new queue needs another rubric")
    return found


def _drawn(
    ports: QueuePorts, fill: Fill, source: TraceSource, rubric: QuestionRubric
) -> Assignment:
    if fill.by == "outdated":
        return assign_again(ports, fill.queue or "", rubric)
    by: ChosenBy = "stratified" if fill.by == "verdict" else fill.by
    is_equal = fill.is_equal or fill.by == "verdict"
    choice = AssignmentChoice(count=fill.size, by=by, is_equal=is_equal, seed=fill.seed)
    slice_name = fill.slice if fill.by == "stratified" else None
    return source.draw(str(rubric.reference), choice, slice_name)


def _design(fill: Fill, drawn: Assignment) -> JsonObject:
    again: JsonObject = {"queue": fill.queue} if fill.by == "outdated" else {}
    return {
        "by": fill.by,
        **again,
        "size": len(drawn.assigned),
        "slice": fill.slice,
        "seed": fill.seed,
        "threshold": drawn.choice.threshold if fill.by == "near_threshold" else None,
        "records": drawn.records,
        "left_out": dict(drawn.left_out),
        "strata": {
            name: {"drawn": taken, "of": size} for name, (taken, size) in drawn.strata.items()
        },
    }
