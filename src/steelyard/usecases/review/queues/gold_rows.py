"""Gold labels as rows beside those of people; they say what they are, and are never blind."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.json_value import JsonObject
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.queue import GoldLabel, ReviewItem, ReviewQueue
from steelyard.usecases.review.queues.ports import QueuePorts


def gold_rows(ports: QueuePorts, wanted: Wanted) -> Iterator[JsonObject]:
    """The gold labels of the wanted rubric and runs; what one person wants has none."""
    if wanted.annotator is not None:
        return
    for queue in sorted(ports.queues.all(), key=lambda one: one.queue_id):
        is_run = wanted.runs is None or queue.source.id in wanted.runs
        if is_run and wanted.rubric in {None, queue.rubric}:
            yield from queue_gold_rows(ports, queue)


def queue_gold_rows(ports: QueuePorts, queue: ReviewQueue) -> Iterator[JsonObject]:
    """The gold labels of a queue in the order of its items."""
    gold = ports.decisions.gold(queue.queue_id)
    items = ports.queues.items(queue.queue_id) if gold else []
    return (_row(queue, item, gold[item.item_id]) for item in items if item.item_id in gold)


def _row(queue: ReviewQueue, item: ReviewItem, gold: GoldLabel) -> JsonObject:
    row: JsonObject = {"record_id": item.record_id, "run_id": queue.source.id}
    if item.repeat:
        row["repeat"] = item.repeat
    return {
        **row,
        "rubric": queue.rubric,
        "annotator": gold.decided_by,
        "exposure": "after_commit",
        "queue_id": queue.queue_id,
        "inclusion_prob": item.inclusion_prob,
        "answers": gold.answers,
        "rubric_sha256": queue.rubric_sha256,
        "gold": {
            "revision": gold.revision,
            "decided_at": gold.decided_at,
            "note": gold.note,
            **gold.provenance,
        },
    }
