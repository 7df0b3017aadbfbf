"""What the judge and others answered about an item, once a person has committed their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.errors import ConflictError, ForbiddenError, RequestError
from steelyard.model.labels.label import Label
from steelyard.model.labels.queue import GoldLabel, QueueSource, ReviewItem, ReviewQueue
from steelyard.usecases.review.queues.annotating import Annotator
from steelyard.usecases.review.queues.exposure import note_others_seen
from steelyard.usecases.review.queues.ports import JudgedItem, QueuePorts
from steelyard.usecases.review.queues.queue_labels import labels_by_item
from steelyard.usecases.review.queues.queue_rubric import rubric_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealedAnswers:
    """Everything that was answered about one item."""

    item: ReviewItem
    queue: ReviewQueue
    own: Label | None
    others: tuple[Label, ...]
    judged: tuple[JudgedItem, ...]
    gold: GoldLabel | None


def reveal_answers(ports: QueuePorts, item_id: str, annotator: Annotator) -> RevealedAnswers:
    """The answers of the judge and of others; noted, so that a later change is not blind."""
    item = ports.queues.item(item_id)
    queue = ports.queues.find(item.queue_id)
    if queue.reveal == "never":
        raise ForbiddenError(f"the answers of others are not shown in {queue.queue_id}")
    draft = ports.assignments.draft(item_id, annotator.name)
    if draft is None or draft.standing != "submitted" or draft.committed is None:
        raise ConflictError(f"submit your own answers to {item_id} first")
    source = ports.source(queue.source)
    note_others_seen(ports, source, annotator.name, item.index, has_login=annotator.has_login)
    own_name = draft.committed["annotator"]
    labels = labels_by_item(ports, queue, [item]).get(item_id, [])
    return RevealedAnswers(
        item=item,
        queue=queue,
        own=next((one for one in labels if one.annotator == own_name), None),
        others=tuple(one for one in labels if one.annotator != own_name),
        judged=tuple(_judged(ports, queue, item)),
        gold=ports.decisions.gold(queue.queue_id).get(item_id),
    )


def _judged(ports: QueuePorts, queue: ReviewQueue, item: ReviewItem) -> Iterator[JudgedItem]:
    """What the run itself and the judgements of the queue say, newest last."""
    sources = (queue.source, *(QueueSource(kind="run", id=one) for one in queue.judged_by))
    rubric = rubric_of(queue)
    for source in sources:
        try:
            yield from ports.source(source).judged(rubric, item.index, item.repeat)
        except RequestError:
            continue  # the run has not come to this record, or was pruned
