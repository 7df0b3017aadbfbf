"""The labels of one queue as rows that can be imported elsewhere."""

from __future__ import annotations

from steelyard.contracts.labels.reader import label_of
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.review.queues.exposure import note_results_seen
from steelyard.usecases.review.queues.gold_rows import queue_gold_rows
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.usecases.review.queues.queue_labels import SubmittedLabels


def queue_rows(ports: QueuePorts, queue_id: str, person: str) -> list[JsonObject]:
    """What everybody submitted in a queue, then its gold labels.

    Whoever reads them is no longer blind about these items.
    """
    queue = ports.queues.find(queue_id)
    items = ports.queues.items(queue_id)
    submitted = SubmittedLabels(ports, queue, items)
    wanted = Wanted(rubric=queue.rubric, runs=(queue.source.id,))
    labels = [one.row for one in ports.review.annotations.all(wanted)]
    rows = [row for row in labels if submitted.has(label_of(row))]
    rows.extend(queue_gold_rows(ports, queue))
    if rows:
        told = {(label_of(row).record_id, label_of(row).repeat) for row in rows}
        indices = {one.index for one in items if (one.record_id, one.repeat) in told}
        note_results_seen(ports, ports.source(queue.source), person, indices)
    return rows
