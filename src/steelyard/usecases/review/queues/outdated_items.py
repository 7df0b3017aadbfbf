"""The items of a queue that people answered under an older wording, to be answered again."""

from __future__ import annotations

import re

from steelyard.contracts.labels.reader import label_of
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.queue import ReviewItem, ReviewQueue
from steelyard.model.question import QuestionRubric
from steelyard.usecases.review.labels import KnownRubrics
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_labels import SubmittedLabels
from steelyard.usecases.review.queues.queue_rubric import rubric_of

OUTDATED = "outdated"
_DIGITS = re.compile(r"[0-9]+")


def outdated_items(
    ports: QueuePorts, queue: ReviewQueue, rubric: QuestionRubric | None = None
) -> list[ReviewItem]:
    """The items with a label under other content than a rubric has, in their order.

    By default the rubric is what the queue's reference means now. Items that a later queue asks
    again under that content are left out.
    """
    rubric = rubric or KnownRubrics(ports.review.references).questions(queue.rubric)
    if rubric is None:
        return []
    wanted = Wanted(rubric=queue.rubric, runs=(queue.source.id,))
    labels = (label_of(one.row) for one in ports.review.annotations.all(wanted))
    older = [one for one in labels if one.rubric_sha256 not in {None, rubric.sha256}]
    if not older:
        return []
    items = ports.queues.items(queue.queue_id)
    submitted = SubmittedLabels(ports, queue, items)
    found = {submitted.item_of(one) for one in older}
    again = _asked_again(ports, queue, rubric) if found else set[tuple[str, int]]()
    return [
        one for one in items if one.item_id in found and (one.record_id, one.repeat) not in again
    ]


def newer_version(ports: QueuePorts, queue: ReviewQueue) -> QuestionRubric | None:
    """The newest published version of a queue's rubric, if its own is not the newest.

    Versions have the same name and differ in their numbers, as agent-v1 and agent-v2.
    """
    own = rubric_of(queue)
    name = own.name, _DIGITS.sub("0", own.version)
    known = (one.content for one in ports.review.references.known("rubric"))
    newer = [
        one
        for one in known
        if isinstance(one, QuestionRubric)
        and (one.name, _DIGITS.sub("0", one.version)) == name
        and one.status == "published"
        and _order(one.version) > _order(own.version)
    ]
    return max(newer, key=lambda one: _order(one.version), default=None)


def _asked_again(
    ports: QueuePorts, queue: ReviewQueue, rubric: QuestionRubric
) -> set[tuple[str, int]]:
    """The places that later queues ask again with a rubric as it is now."""
    later = (
        one.queue_id
        for one in ports.queues.all()
        if one.design.get("by") == OUTDATED
        and one.design.get("queue") == queue.queue_id
        and one.rubric_sha256 == rubric.sha256
    )
    items = (item for queue_id in later for item in ports.queues.items(queue_id))
    return {(item.record_id, item.repeat) for item in items}


def _order(version: str) -> list[int]:
    """The numbers of a version by their value: v10 comes after v9."""
    return [int(part) for part in _DIGITS.findall(version)]
