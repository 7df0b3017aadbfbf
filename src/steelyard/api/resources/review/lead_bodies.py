"""Review queues as those see them who lead them and adjudicate."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.api.resources.review.annotator_bodies import AnswersBody, GoldBody, gold_body
from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.model.labels.queue import AnnotatorProgress, Flag, QueueStatus
from steelyard.review.disagreement import PairAgreement, SharedAnswers
from steelyard.review.label_precision import LabelPrecision
from steelyard.usecases.review.queues.adjudication import DisputedItem
from steelyard.usecases.review.queues.queue_views import LeadView


class NeededBody(msgspec.Struct, frozen=True):
    """How many labels a precision needs."""

    half_width: float
    """Half the width of the 95 % interval of a rate near one half."""
    labels: int
    """The number of labelled items."""
    note: str | None
    """That the run has fewer records than that, where it has."""


class PrecisionBody(msgspec.Struct, frozen=True):
    """How precise a rate from the labels of a queue is."""

    labels: int
    """The number of items."""
    effective: float
    """So many items of a simple random sample would be as precise."""
    half_width: float
    """Half the width of the 95 % interval of a rate near one half, if all items are labelled."""
    needed: list[NeededBody]
    """For other widths, drawn in the same way."""
    records: int
    """The number of records that could be drawn."""


class SharedBody(msgspec.Struct, frozen=True):
    """Answers of two or more people to the same questions."""

    same: int
    """How many are the same."""
    compared: int
    """How many were compared."""
    rate: float | None
    """The share; null if nothing was compared."""


class PairBody(msgspec.Struct, frozen=True):
    """Two people who answered the same items."""

    people: list[str]
    """Their names."""
    items: int
    """The items that both answered."""
    answers: SharedBody
    """All questions together."""
    questions: dict[str, SharedBody]
    """Each question."""


class SkipBody(msgspec.Struct, frozen=True):
    """An item that somebody declined."""

    item_id: str
    """The item."""
    annotator: str
    """Who."""
    reason: str | None
    """Why."""
    at: str
    """When."""


class WaitingBody(msgspec.Struct, frozen=True):
    """An item without as many answers as it needs."""

    item_id: str
    """The item."""
    missing: int
    """How many answers it still needs."""
    skipped_by: list[str]
    """Who declined it; it is never offered to them again."""
    needs_somebody_else: bool
    """Whether too few of the people so far can still answer it."""


class LeadBody(msgspec.Struct, frozen=True):
    """A review queue as whoever leads it sees it."""

    queue_id: str
    """The queue."""
    name: str
    """Its name."""
    status: QueueStatus
    """Whether items can be claimed."""
    run_id: str
    """The run, or the trace set, whose responses are reviewed."""
    rubric: str
    """The reference of the rubric."""
    rubric_sha256: str | None
    """The hash of its content when the queue was made."""
    fill: dict[str, Any]
    """How items were drawn."""
    created_by: str
    """Who made the queue."""
    judged_in: list[str]
    """The runs in which a judge answers the items."""
    items: int
    """The number of its items."""
    reviews_required: int
    """The number of people who answer each item."""
    reviews: int
    """Submitted answers of all people."""
    complete: int
    """Items with as many reviews as required."""
    adjudicated: int
    """Items with a gold label."""
    precision: PrecisionBody | None
    """How precise a rate from the labels is; null of a queue of picked records."""
    people: list[AnnotatorProgress]
    """What each person has done."""
    pairs: list[PairBody]
    """Who disagrees with whom on what; the least agreeing first."""
    flags: list[Flag]
    """What people noted about items."""
    skips: list[SkipBody]
    """Items that people declined."""
    waiting: list[WaitingBody]
    """Items without as many answers as they need, in order."""
    outdated: list[str]
    """Items that were answered under other content than the rubric has now, and that no later
    queue asks again."""
    newer_rubric: str | None
    """The newest published version of the rubric; null if its own is the newest."""
    older: list[str]
    """Items that were answered under other content than that version has, likewise."""


class AnonymousBody(msgspec.Struct, frozen=True):
    """The answers of one person."""

    name: str
    """A letter that stands for the person in this item only."""
    answers: AnswersBody
    """Their answers."""


class PlaceBody(msgspec.Struct, frozen=True):
    """A question that people answered differently."""

    key: str
    """The question."""
    turn: int
    """The turn; 0 is the whole trace."""


class DisputedBody(msgspec.Struct, frozen=True):
    """An item that people answered differently."""

    item_id: str
    """The item."""
    place: int
    """Its position in the queue, from 1."""
    record_id: str
    """The record."""
    repeat: int
    """The repeat of the response."""
    agreement: SharedBody
    """All pairs of people, over all questions but comments."""
    questions: list[PlaceBody]
    """The questions that were answered differently."""
    given: list[AnonymousBody]
    """The answers, without names."""
    gold: GoldBody | None
    """The decision, where there is one."""


def precision_body(found: LabelPrecision | None) -> PrecisionBody | None:
    """How precise a rate from the labels of a queue is."""
    if found is None:
        return None
    return PrecisionBody(
        labels=found.labels,
        effective=found.effective,
        half_width=found.half_width,
        needed=[
            NeededBody(one.half_width, one.labels, found.note_on(one)) for one in found.needed
        ],
        records=found.records,
    )


def lead_body(view: LeadView) -> LeadBody:
    """A queue as whoever leads it sees it."""
    queue, counts = view.queue, view.counts
    return LeadBody(
        queue_id=queue.queue_id,
        name=queue.name,
        status=queue.status,
        run_id=queue.source.id,
        rubric=queue.rubric,
        rubric_sha256=queue.rubric_sha256,
        fill=queue.design,
        created_by=queue.created_by,
        judged_in=list(queue.judged_by),
        items=counts.items,
        reviews_required=queue.reviews_required,
        reviews=counts.reviews,
        complete=counts.complete,
        adjudicated=counts.adjudicated,
        precision=precision_body(view.precision),
        people=list(view.people),
        pairs=[_pair_body(one) for one in view.pairs],
        flags=list(view.flags),
        skips=[
            SkipBody(one.item_id, one.annotator, one.reason, one.changed_at) for one in view.skips
        ],
        waiting=[
            WaitingBody(one.item_id, one.missing, list(one.skipped_by), one.needs_somebody_else)
            for one in view.waiting
        ],
        outdated=list(view.outdated),
        newer_rubric=view.newer,
        older=list(view.older),
    )


def disputed_body(found: DisputedItem) -> DisputedBody:
    """An item that people answered differently."""
    item = found.item
    return DisputedBody(
        item_id=item.item_id,
        place=item.place,
        record_id=item.record_id,
        repeat=item.repeat,
        agreement=_shared_body(found.agreement),
        questions=[PlaceBody(one.key, one.turn) for one in found.questions],
        given=[
            AnonymousBody(one.name, msgspec.convert(answers_row(one.answers), AnswersBody))
            for one in found.given
        ],
        gold=gold_body(found.gold),
    )


def _pair_body(found: PairAgreement) -> PairBody:
    return PairBody(
        people=list(found.people),
        items=found.items,
        answers=_shared_body(found.answers),
        questions={key: _shared_body(one) for key, one in found.questions.items()},
    )


def _shared_body(found: SharedAnswers) -> SharedBody:
    return SharedBody(found.same, found.compared, found.rate)
