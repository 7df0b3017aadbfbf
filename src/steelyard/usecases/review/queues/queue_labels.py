"""The labels about the items of a queue, under the content of its rubric."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.labels.queue import ReviewItem, ReviewQueue
from steelyard.model.question import QuestionRubric
from steelyard.usecases.registry.references import References
from steelyard.usecases.review.labels import KnownRubrics, stored_labels
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_rubric import rubric_of


class PinnedRubric(KnownRubrics):
    """The rubric of a queue in the place of whatever its reference means by now."""

    def __init__(self, references: References, queue: ReviewQueue) -> None:
        super().__init__(references)
        self._rubric = rubric_of(queue)
        self._name = queue.rubric

    def find(self, name: str) -> QuestionRubric | str:
        """The rubric of the queue, or any other one of the project."""
        return self._rubric if name == self._name else super().find(name)

    def sha256(self, name: str) -> str | None:
        """The content hash of a rubric."""
        return self._rubric.sha256 if name == self._name else super().sha256(name)


class SubmittedLabels:
    """Which labels were submitted in a queue; others may be about the same responses."""

    # A label may be imported with the name of a queue: it counts there if it was submitted there.

    def __init__(self, ports: QueuePorts, queue: ReviewQueue, items: Sequence[ReviewItem]) -> None:
        self._queue_id = queue.queue_id
        places = {one.item_id: (one.record_id, one.repeat) for one in items}
        self._items = {place: item_id for item_id, place in places.items()}
        self._given = {
            (*places[draft.item_id], draft.committed["annotator"])
            for draft in ports.progress.drafts(queue.queue_id)
            if draft.standing == "submitted" and draft.committed and draft.item_id in places
        }

    def item_of(self, label: Label) -> str | None:
        """The item that a label was submitted for; None for a label from elsewhere."""
        given = (label.record_id, label.repeat, label.annotator)
        if label.queue_id != self._queue_id or given not in self._given:
            return None
        return self._items[label.record_id, label.repeat]

    def has(self, label: Label) -> bool:
        """Whether a label was submitted in the queue."""
        return self.item_of(label) is not None


def labels_by_item(
    ports: QueuePorts, queue: ReviewQueue, items: Sequence[ReviewItem]
) -> dict[str, list[Label]]:
    """What people submitted about those items of a queue that somebody has answered, in order."""
    rubrics = PinnedRubric(ports.review.references, queue)
    submitted = SubmittedLabels(ports, queue, items)
    wanted = Wanted(
        rubric=queue.rubric,
        runs=(queue.source.id,),
        records=[one.record_id for one in items] if len(items) == 1 else None,
    )
    found: dict[str, list[Label]] = {}
    for label in stored_labels(ports.review.annotations, wanted, rubrics, submitted.has):
        item_id = submitted.item_of(label)
        assert item_id is not None
        found.setdefault(item_id, []).append(label)
    return {one.item_id: found[one.item_id] for one in items if one.item_id in found}
