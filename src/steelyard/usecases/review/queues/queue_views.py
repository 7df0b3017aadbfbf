"""Queues as annotators and leads see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import (
    AnnotatorProgress,
    Draft,
    Flag,
    ListedItem,
    OwnProgress,
    QueueCounts,
    ReviewItem,
    ReviewQueue,
)
from steelyard.model.question import Answers
from steelyard.review.disagreement import PairAgreement, pair_agreements
from steelyard.review.label_precision import LabelPrecision
from steelyard.usecases.review.queues.annotating import Annotator
from steelyard.usecases.review.queues.create_queue import precision_of
from steelyard.usecases.review.queues.exposure import note_own_seen
from steelyard.usecases.review.queues.outdated_items import newer_version, outdated_items
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_labels import labels_by_item
from steelyard.usecases.review.queues.queue_rubric import rubric_of


class QueueView(NamedTuple):
    """A queue with how far it and one person have come; nothing of how items were drawn."""

    queue: ReviewQueue
    counts: QueueCounts
    own: OwnProgress


class OwnAnswer(NamedTuple):
    """What a person has done with an item."""

    item: ReviewItem
    draft: Draft


class WaitingItem(NamedTuple):
    """An item without as many answers as it needs."""

    item_id: str
    missing: int
    skipped_by: tuple[str, ...]
    needs_somebody_else: bool
    """Whether too few of the people so far can still answer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadView:
    """A queue as whoever leads it sees it."""

    queue: ReviewQueue
    items: Sequence[ReviewItem]
    counts: QueueCounts
    precision: LabelPrecision | None
    """None of a queue of picked records."""
    people: tuple[AnnotatorProgress, ...]
    pairs: tuple[PairAgreement, ...]
    """Every two people who answered the same items, without tie-breaks; the least agreeing
    first."""
    flags: tuple[Flag, ...]
    skips: tuple[Draft, ...]
    """Items that somebody declined, with the reason."""
    waiting: tuple[WaitingItem, ...]
    outdated: tuple[str, ...]
    """Items that were answered under other content than the rubric has now, and wait for a queue
    that asks them again."""
    newer: str | None
    """The newest published version of the rubric, if its own is not the newest."""
    older: tuple[str, ...]
    """Items that were answered under other content than that version has."""


def list_queues(ports: QueuePorts, annotator: str) -> list[QueueView]:
    """Every queue, newest first, with the progress of one person."""
    return [_view(ports, queue, annotator) for queue in ports.queues.all()]


def show_queue(ports: QueuePorts, queue_id: str, annotator: str) -> QueueView:
    """One queue with the progress of one person."""
    return _view(ports, ports.queues.find(queue_id), annotator)


def list_items(ports: QueuePorts, queue_id: str, annotator: str) -> list[ListedItem]:
    """The items of a queue in order, with the state that each has for one person."""
    ports.queues.find(queue_id)
    return ports.progress.items(queue_id, annotator)


def own_answers(ports: QueuePorts, queue_id: str, annotator: Annotator) -> list[OwnAnswer]:
    """The items that a person has worked on, with their own answers."""
    queue = ports.queues.find(queue_id)
    items = {one.item_id: one for one in ports.progress.begun(queue_id, annotator.name)}
    drafts = ports.progress.drafts(queue_id, annotator.name)
    indices = {items[one.item_id].index for one in drafts if one.says_something}
    source = ports.source(queue.source)
    note_own_seen(ports, source, annotator.name, indices, has_login=annotator.has_login)
    return [OwnAnswer(items[draft.item_id], draft) for draft in drafts]


def lead_view(ports: QueuePorts, queue_id: str) -> LeadView:
    """Progress per person, who disagrees with whom, flags and skipped items."""
    queue = ports.queues.find(queue_id)
    items = ports.queues.items(queue_id)
    labels = labels_by_item(ports, queue, items)
    given: list[Mapping[str, Answers]] = [
        {
            label.annotator: label.answers
            for label in found
            if label.answers is not None and not label.is_tie_break
        }
        for found in labels.values()
    ]
    drafts = ports.progress.drafts(queue_id)
    newer = newer_version(ports, queue)
    older = outdated_items(ports, queue, newer) if newer else []
    return LeadView(
        queue=queue,
        items=items,
        counts=ports.progress.counts(queue_id),
        precision=precision_of(items, drawn_from(queue.design, len(items))),
        people=tuple(ports.progress.people(queue_id)),
        pairs=tuple(pair_agreements(rubric_of(queue), given)),
        flags=tuple(ports.decisions.flags(queue_id)),
        skips=tuple(draft for draft in drafts if draft.standing == "skipped"),
        waiting=tuple(_waiting(ports.progress.missing(queue_id), drafts)),
        outdated=tuple(one.item_id for one in outdated_items(ports, queue)),
        newer=str(newer.reference) if newer else None,
        older=tuple(one.item_id for one in older),
    )


def _waiting(missing: Mapping[str, int], drafts: Sequence[Draft]) -> Iterator[WaitingItem]:
    people = {one.annotator for one in drafts}
    done: dict[str, set[str]] = {}
    skipped: dict[str, list[str]] = {}
    for one in drafts:
        if one.standing in {"skipped", "submitted"}:
            done.setdefault(one.item_id, set()).add(one.annotator)
        if one.standing == "skipped":
            skipped.setdefault(one.item_id, []).append(one.annotator)
    for item_id, number in missing.items():
        left = len(people) - len(done.get(item_id, ()))
        yield WaitingItem(
            item_id,
            number,
            tuple(skipped.get(item_id, ())),
            needs_somebody_else=bool(people) and left < number,
        )


def drawn_from(design: JsonObject, items: int) -> int:
    """The number of records that a queue was drawn from."""
    records = design.get("records")
    return records if isinstance(records, int) else items


def _view(ports: QueuePorts, queue: ReviewQueue, annotator: str) -> QueueView:
    counts = ports.progress.counts(queue.queue_id)
    return QueueView(queue, counts, ports.progress.own(queue.queue_id, annotator))
