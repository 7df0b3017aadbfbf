"""Review queues and items as annotators see them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from steelyard.model.labels.label import Exposure
from steelyard.model.labels.queue import (
    GoldLabel,
    ItemState,
    QueueStatus,
    Reveal,
    Standing,
)
from steelyard.usecases.review.queues.annotating import ClaimedItem
from steelyard.usecases.review.queues.queue_views import OwnAnswer, QueueView


class AnswersBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers in the shape of the rubric."""

    trace: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    """Answers about the whole trace, by question."""
    turns: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict[str, dict[str, Any]])
    """Answers about single turns: `turn_1` and so on, each by question."""


class GoldBody(msgspec.Struct, frozen=True):
    """The answers that an adjudicator decided on."""

    revision: int
    """How often it was decided."""
    answers: AnswersBody
    """The answers that count as right."""
    decided_by: str
    """Who decided."""
    decided_at: str
    """When."""
    note: str | None
    """Why."""
    provenance: dict[str, Any]
    """The answers that it was decided from."""


class QueueProgress(msgspec.Struct, frozen=True):
    """How far a person, and the queue as a whole, have come."""

    submitted: int
    """Items that this person has answered."""
    skipped: int
    """Items that this person has declined."""
    deferred: int
    """Items that this person has put off."""
    open: int
    """Items that this person has begun."""
    waiting: int
    """Items that this person could claim, deferred ones included."""
    complete: int
    """Items with as many reviews as required, of all people."""


class QueueBody(msgspec.Struct, frozen=True):
    """A review queue as annotators see it."""

    queue_id: str
    """The queue."""
    name: str
    """Its name."""
    status: QueueStatus
    """Whether items can be claimed."""
    items: int
    """The number of its items."""
    reviews_required: int
    """The number of people who answer each item."""
    rubric: dict[str, Any]
    """The rubric to answer, as it was when the queue was made."""
    reveal: Reveal
    """When the answers of the judge and of others are shown."""
    instructions: str | None
    """What to read first."""
    created_at: str
    """When it was made."""
    progress: QueueProgress
    """How far whoever asks, and the queue as a whole, have come."""


class ClaimedBody(msgspec.Struct, frozen=True):
    """An item to answer."""

    item_id: str
    """The item."""
    queue_id: str
    """Its queue."""
    place: int
    """Its position in the queue, from 1."""
    record_id: str
    """The record."""
    repeat: int
    """The repeat of the response."""
    annotator: str
    """Who has claimed it."""
    token: str
    """What every write must repeat."""
    lease_expires_at: str
    """When somebody else may claim it; every write puts that off."""
    rubric: dict[str, Any]
    """The rubric to answer."""
    request: dict[str, Any] | None
    """The messages that were sent."""
    trace: dict[str, Any]
    """The response."""
    expected: Any
    """What the record says about a good response; null where it says nothing."""
    turns: int
    """The number of assistant turns in the trace."""
    draft: AnswersBody
    """The answers of this person so far."""
    revision: int
    """The revision of the draft, for the next write."""


class ListedItemBody(msgspec.Struct, frozen=True):
    """An item of a queue, for one person."""

    item_id: str
    """The item."""
    place: int
    """Its position in the queue, from 1."""
    record_id: str
    """The record."""
    repeat: int
    """The repeat of the response."""
    state: ItemState
    """What this person has done with it; `taken` where enough others have claimed it."""
    flags: int
    """How many flags this person has set."""


class OwnAnswerBody(msgspec.Struct, frozen=True):
    """What a person has done with an item."""

    item_id: str
    """The item."""
    place: int
    """Its position in the queue, from 1."""
    record_id: str
    """The record."""
    repeat: int
    """The repeat of the response."""
    state: Standing
    """What this person did last."""
    answers: AnswersBody
    """Their answers."""
    revision: int
    """The revision of the answers."""
    reason: str | None
    """Why it was skipped."""
    exposure: Exposure | None
    """What they had seen when they submitted; null before that."""
    changed_at: str
    """When that was."""


def gold_body(label: GoldLabel | None) -> GoldBody | None:
    """The decision about an item, where there is one."""
    if label is None:
        return None
    return GoldBody(
        revision=label.revision,
        answers=msgspec.convert(label.answers, AnswersBody),
        decided_by=label.decided_by,
        decided_at=label.decided_at,
        note=label.note,
        provenance=label.provenance,
    )


def queue_body(view: QueueView) -> QueueBody:
    """A queue as annotators see it."""
    queue, counts, own = view
    return QueueBody(
        queue_id=queue.queue_id,
        name=queue.name,
        status=queue.status,
        items=counts.items,
        reviews_required=queue.reviews_required,
        rubric=queue.rubric_row,
        reveal=queue.reveal,
        instructions=queue.instructions,
        created_at=queue.created_at,
        progress=QueueProgress(
            submitted=own.submitted,
            skipped=own.skipped,
            deferred=own.deferred,
            open=own.open,
            waiting=own.waiting,
            complete=counts.complete,
        ),
    )


def claimed_body(found: ClaimedItem) -> ClaimedBody:
    """An item to answer; nothing of it says how it was drawn or what others answered."""
    claim, queue, shown = found
    item = claim.item
    return ClaimedBody(
        item_id=item.item_id,
        queue_id=item.queue_id,
        place=item.place,
        record_id=item.record_id,
        repeat=item.repeat,
        annotator=claim.annotator,
        token=claim.token,
        lease_expires_at=_stamp(claim.lease_expires_at),
        rubric=queue.rubric_row,
        request=shown.request,
        trace=shown.trace,
        expected=shown.expected,
        turns=shown.turns,
        draft=msgspec.convert(claim.draft.answers, AnswersBody),
        revision=claim.draft.revision,
    )


def own_answer_body(found: OwnAnswer) -> OwnAnswerBody:
    """What a person has done with an item."""
    item, draft = found
    committed: dict[str, Any] = draft.committed or {}
    return OwnAnswerBody(
        item_id=item.item_id,
        place=item.place,
        record_id=item.record_id,
        repeat=item.repeat,
        state=draft.standing,
        answers=msgspec.convert(draft.answers, AnswersBody),
        revision=draft.revision,
        reason=draft.reason,
        exposure=committed.get("exposure") if draft.standing == "submitted" else None,
        changed_at=draft.changed_at,
    )


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
