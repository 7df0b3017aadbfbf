"""Make a review queue: draw or pick its items, and say how precise its labels can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from steelyard.contracts.question_rubric.writer import rubric_row
from steelyard.errors import InvalidError, argument
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, Candidate, Picked
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
from steelyard.usecases.review.queues.outdated_items import OUTDATED, outdated_items
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
    is_at_most: bool = False
    """Whether all records are drawn where there are fewer than `size`."""
    slice: str | None = None
    """The slice that defines the strata of a stratified draw; by default the verdict."""
    is_equal: bool = False
    """Whether strata give equally many items; those of `verdict` always do."""
    seed: int = 0
    places: tuple[tuple[int, int], ...] = ()
    """Index and repeat of the records that are `picked`."""
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
    precision: LabelPrecision | None
    """None of items that were picked: their labels say nothing of other records."""
    left_out: int = 0
    """How many of those that were picked have no response."""


def create_queue(
    ports: QueuePorts, new: NewQueue, *, caller: Caller | None = None
) -> CreatedQueue:
    """Draw the items of a source and keep them as a queue."""
    ports = ports.called_by(caller)
    _require_valid(new)
    source = ports.source(new.source)
    rubric = _rubric(ports, new, source)
    filled = _filled(ports, new, source, rubric)
    queue = ReviewQueue(
        queue_id=ports.new_queue_id(),
        name=new.name,
        source=QueueSource(kind=new.source.kind, id=filled.run_id),
        rubric=str(rubric.reference),
        rubric_sha256=rubric.sha256,
        rubric_row=rubric_row(rubric),
        reviews_required=new.reviews_required,
        reveal=new.reveal,
        instructions=new.instructions,
        design=filled.design,
        created_at=ports.clock.stamp(),
        created_by=ports.caller.actor,
    )
    items = [replace(one, queue_id=queue.queue_id) for one in filled.items]
    ports.review.fix_published({queue.rubric}, ports.caller)
    entry = ports.entry("create_queue", queue.queue_id, name=new.name, items=len(items))
    ports.queues.create(queue, items, entry)
    precision = precision_of(items, filled.records)
    return CreatedQueue(queue, len(items), precision, filled.left_out)


def precision_of(items: Sequence[ReviewItem], records: int) -> LabelPrecision | None:
    """What a rate from the labels of a queue is worth; None where items were picked."""
    chances = [one.inclusion_prob for one in items if one.inclusion_prob is not None]
    return label_precision(chances, records) if len(chances) == len(items) else None


def picked_items(picked: Picked) -> list[ReviewItem]:
    """The items of records that somebody picked, without a chance."""
    return [_item(one, place) for place, one in enumerate(picked.candidates, start=1)]


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


def raise_reviews(
    ports: QueuePorts, queue_id: str, reviews: int, *, caller: Caller | None = None
) -> None:
    """Have more people answer every item of a queue."""
    ports = ports.called_by(caller)
    _require_reviews(reviews)
    entry = ports.entry("raise_reviews", queue_id, reviews_required=reviews)
    ports.queues.require_reviews(queue_id, reviews, entry)


def _require_reviews(number: int) -> None:
    if not 1 <= number <= MOST_REVIEWS:
        raise InvalidError(f"`reviews_required` must be from 1 to {MOST_REVIEWS}, not {number}")


def _require_valid(new: NewQueue) -> None:
    require_name("`name`", new.name)
    _require_reviews(new.reviews_required)
    size = len(new.fill.places) if new.fill.by == "picked" else new.fill.size
    if not 1 <= size <= MOST_ITEMS:
        raise InvalidError(f"a queue has 1 to {MOST_ITEMS:,} items, not {size:,}")
    if new.fill.places and new.fill.by != "picked":
        raise InvalidError("records are named only where they are picked (`by` is `picked`)")
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
        raise InvalidError(found if new.rubric or before else _ungiven(name))
    known = ports.review.references.find(found.reference).problems
    if any(problem.code == "archived_rubric" for problem in known):
        raise InvalidError(f"{found.reference} is archived; a new queue needs another rubric")
    return found


def _ungiven(graded: str) -> str:
    """Why people cannot answer the rubric that graded a run."""
    asked = f"name the question rubric to answer with {argument('rubric')}"
    return f"{graded} graded the run, and is no rubric of questions here; {asked}"


class _Filled(NamedTuple):
    """The items of a queue that is to be made, and where they come from."""

    run_id: str
    items: list[ReviewItem]
    design: JsonObject
    records: int
    """Those that could be drawn."""
    left_out: int = 0


def _filled(
    ports: QueuePorts, new: NewQueue, source: TraceSource, rubric: QuestionRubric
) -> _Filled:
    if new.fill.by == "picked":
        return _picked(source, new.fill)
    if new.fill.queue is not None:
        return _outdated(ports, new.fill.queue, rubric)
    return _drawn(source, rubric, new)


def _outdated(ports: QueuePorts, queue_id: str, rubric: QuestionRubric) -> _Filled:
    """The outdated items of a queue; each keeps its probability and stratum."""
    queue = ports.queues.find(queue_id)
    items = outdated_items(ports, queue, rubric)
    if not items:
        raise InvalidError(
            f"no item of {queue_id} waits to be answered again: none was answered under other "
            f"content than {rubric.reference} has"
        )
    found = queue.design.get("records")
    records = found if isinstance(found, int) else len(items)
    design: JsonObject = {
        "by": OUTDATED,
        "queue": queue_id,
        "size": len(items),
        "records": records,
    }
    placed = [replace(one, item_id="", place=place) for place, one in enumerate(items, start=1)]
    return _Filled(queue.source.id, placed, design, records)


def _picked(source: TraceSource, fill: Fill) -> _Filled:
    picked = source.pick(fill.places)
    if not picked.candidates:
        raise InvalidError("none of the records has a response that people could review")
    items = picked_items(picked)
    design: JsonObject = {"by": "picked", "size": len(items)}
    return _Filled(picked.run_id, items, design, len(items), picked.left_out)


def _drawn(source: TraceSource, rubric: QuestionRubric, new: NewQueue) -> _Filled:
    fill, is_by_verdict = new.fill, new.fill.by == "verdict"
    assert fill.by != "picked" and fill.by != "outdated"  # noqa: PLR1714, PT018 - narrows the type
    choice = AssignmentChoice(
        count=fill.size,
        is_at_most=fill.is_at_most,
        by="stratified" if fill.by == "verdict" else fill.by,
        is_equal=fill.is_equal or is_by_verdict,
        seed=fill.seed,
    )
    slice_name = fill.slice if fill.by == "stratified" else None
    drawn = source.draw(str(rubric.reference), choice, slice_name)
    items = [
        _item(one.candidate, place, one.inclusion_prob, one.stratum)
        for place, one in enumerate(drawn.assigned, start=1)
    ]
    return _Filled(drawn.run_id, items, _design(fill, drawn), drawn.records)


def _item(
    candidate: Candidate, place: int, chance: float | None = None, stratum: str | None = None
) -> ReviewItem:
    return ReviewItem(
        item_id="",
        queue_id="",
        place=place,
        index=candidate.index,
        repeat=candidate.repeat,
        record_id=candidate.record_id,
        inclusion_prob=chance,
        stratum=stratum,
    )


def _design(fill: Fill, drawn: Assignment) -> JsonObject:
    return {
        "by": fill.by,
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
