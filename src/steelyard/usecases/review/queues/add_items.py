"""Add records that somebody picks to a review queue that is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.errors import ConflictError
from steelyard.model.audit import Caller
from steelyard.model.labels.queue import ReviewQueue
from steelyard.usecases.review.queues.create_queue import MOST_ITEMS, picked_items
from steelyard.usecases.review.queues.ports import QueuePorts


class AddedItems(NamedTuple):
    """What became of the records that were to be added."""

    queue: ReviewQueue
    added: int
    known: int
    """So many were in the queue before."""
    left_out: int
    """So many have no response."""


def add_items(
    ports: QueuePorts,
    queue_id: str,
    places: Sequence[tuple[int, int]],
    *,
    caller: Caller | None = None,
) -> AddedItems:
    """Add records of its run, by index and repeat, to an open queue of picked records.

    A queue that was drawn stays as it was drawn: with records that had no chance to be in it, its
    labels could correct no rate.
    """
    ports = ports.called_by(caller)
    queue = ports.queues.find(queue_id)
    if not is_picked(queue):
        raise ConflictError(
            f"the items of '{queue.name}' were drawn, and stay as they were: records that are "
            "picked go to a queue of picked records"
        )
    picked = ports.source(queue.source).pick(places)
    found = picked_items(picked)
    if len(ports.queues.items(queue_id)) + len(found) > MOST_ITEMS:
        raise ConflictError(f"a queue has at most {MOST_ITEMS:,} items")
    entry = ports.entry("add_queue_items", queue_id, items=len(found))
    added = ports.queues.add(queue, found, entry)
    return AddedItems(queue, len(added), len(found) - len(added), picked.left_out)


def queues_to_add_to(ports: QueuePorts, run_id: str) -> list[ReviewQueue]:
    """The open queues of picked records of a run, newest first."""
    return [
        one
        for one in ports.queues.all()
        if one.status == "open" and one.source.id == run_id and is_picked(one)
    ]


def is_picked(queue: ReviewQueue) -> bool:
    """Whether somebody picked the items of a queue."""
    return queue.design.get("by") == "picked"
