"""What a person had seen when they answered: decided here, never by what a client says."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.model.json_value import JsonObject
from steelyard.model.labels.label import Exposure
from steelyard.model.labels.queue import Draft, ReviewItem
from steelyard.usecases.review.queues.ports import QueuePorts, TraceSource

ANYBODY = ""
"""Whoever opens results on a server without login."""


def note_results_seen(
    ports: QueuePorts, source: TraceSource, person: str, indices: Collection[int] | None
) -> None:
    """Note that a person opened the results of some records, or of all of them."""
    ports.seen.note(person, source.ids, indices, ports.clock.stamp())


def exposure_of(
    ports: QueuePorts,
    source: TraceSource,
    item: ReviewItem,
    draft: Draft,
    answers: JsonObject,
    *,
    has_login: bool,
) -> Exposure:
    """How an answer is given that is submitted now.

    Without login nobody knows who opened the results on this server, so nobody is blind then.
    """
    before = draft.committed
    if before is not None and before["answers"] == answers:
        return _exposure(before)
    people = {draft.annotator} if has_login else {draft.annotator, ANYBODY}
    has_seen = ports.seen.has_seen(people, source.ids, item.index)
    if before is None:
        return "suggested" if has_seen else "blind"
    if has_seen and _exposure(before) == "blind":
        return "after_commit"
    return _exposure(before)


def _exposure(label: JsonObject) -> Exposure:
    known: tuple[Exposure, ...] = ("blind", "after_commit", "suggested")
    return next(one for one in known if one == label["exposure"])
