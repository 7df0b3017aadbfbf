"""Items of a review queue on which people are divided evenly, and one more person for them."""

from __future__ import annotations

from steelyard.errors import ConflictError
from steelyard.model.audit import Caller
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.queue import ReviewItem
from steelyard.usecases.judges.label_sets import people_of
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.queues.ports import QueuePorts


def tied_items(ports: QueuePorts, queue_id: str) -> list[ReviewItem]:
    """The items that as many blind people pass as fail, in their order.

    They are left out of a validation; a gold label does not decide them, for whoever gave it had
    seen the answers.
    """
    queue = ports.queues.find(queue_id)
    rubrics = KnownRubrics(ports.review.references)
    wanted = Wanted(rubric=queue.rubric)
    labels = [
        label
        for label in stored_labels(ports.review.annotations, wanted, rubrics)
        if label.queue_id == queue_id
    ]
    found = people_of(labels, rubrics, queue.rubric).by_response
    tied = {(place.record_id, place.repeat) for place in found if found[place].is_good is None}
    if not tied:
        return []
    return [one for one in ports.queues.items(queue_id) if (one.record_id, one.repeat) in tied]


def ask_about_ties(
    ports: QueuePorts, queue_id: str, *, caller: Caller | None = None
) -> list[ReviewItem]:
    """Let one more person answer each tied item that nobody else could claim; these items."""
    ports = ports.called_by(caller)
    tied = tied_items(ports, queue_id)
    if not tied:
        raise ConflictError(f"people are divided evenly on no item of {queue_id}")
    entry = ports.entry("ask_about_ties", queue_id)
    asked = ports.queues.ask_one_more(queue_id, [one.item_id for one in tied], entry)
    return [one for one in tied if one.item_id in set(asked)]
