"""The items of a queue that people answered under an older wording, to be answered again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from steelyard.contracts.labels.reader import label_of
from steelyard.errors import InvalidError
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.assignment import Assigned, Assignment, AssignmentChoice, Candidate
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
    items = ports.queues.items(queue.queue_id)
    submitted = SubmittedLabels(ports, queue, items)
    wanted = Wanted(rubric=queue.rubric, runs=(queue.source.id,))
    labels = (label_of(one.row) for one in ports.review.annotations.all(wanted))
    found = {
        submitted.item_of(one) for one in labels if one.rubric_sha256 not in {None, rubric.sha256}
    }
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


def assign_again(ports: QueuePorts, queue_id: str, rubric: QuestionRubric) -> Assignment:
    """The outdated items of a queue as a sample; each keeps its probability and stratum."""
    queue = ports.queues.find(queue_id)
    items = outdated_items(ports, queue, rubric)
    if not items:
        raise InvalidError(
            f"no item of {queue_id} waits to be answered again: none was answered under other "
            f"content than {rubric.reference} has"
        )
    records = queue.design.get("records")
    return Assignment(
        run_id=queue.source.id,
        rubric=str(rubric.reference),
        choice=AssignmentChoice(count=len(items)),
        records=records if isinstance(records, int) else len(items),
        left_out={},
        assigned=_assigned(items),
        strata={},
    )


def _assigned(items: Sequence[ReviewItem]) -> tuple[Assigned, ...]:
    return tuple(
        Assigned(
            candidate=Candidate(record_id=one.record_id, index=one.index, repeat=one.repeat),
            inclusion_prob=one.inclusion_prob,
            stratum=one.stratum,
        )
        for one in items
    )


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
