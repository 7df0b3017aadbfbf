"""What a person had seen when they answered: decided here, never by what a client says."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.errors import RequestError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.label import Exposure
from steelyard.model.labels.queue import Draft, QueueSource, ReviewItem
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
    """How an answer is given that is submitted now; submitted unchanged, it stays as it was."""
    before = draft.committed
    if before is not None and before["answers"] == answers:
        return _exposure(before)
    return expected_exposure(ports, source, item, draft, has_login=has_login)


def expected_exposure(
    ports: QueuePorts, source: TraceSource, item: ReviewItem, draft: Draft, *, has_login: bool
) -> Exposure:
    """How a new or changed answer would be given now.

    Without login nobody knows who opened the results on this server, so nobody is blind then.
    """
    before = draft.committed
    people = {draft.annotator} if has_login else {draft.annotator, ANYBODY}
    has_seen = ports.seen.has_seen(people, source.ids, item.index) or _has_seen_elsewhere(
        ports, source, item, people
    )
    if before is None:
        return "suggested" if has_seen else "blind"
    if has_seen and _exposure(before) == "blind":
        return "after_commit"
    return _exposure(before)


def _has_seen_elsewhere(
    ports: QueuePorts, source: TraceSource, item: ReviewItem, people: Collection[str]
) -> bool:
    """Whether they opened results of the same response to the same record in another run."""
    own, content = source.ids, source.content(item.index, item.repeat)
    for run_id in ports.seen.sources(people):
        if run_id in own:
            continue
        try:
            other = ports.source(QueueSource(kind="run", id=run_id))
            indices = other.holding(content, item.index)
        except RequestError:
            continue  # the run is gone
        if any(ports.seen.has_seen(people, (run_id,), index) for index in indices):
            return True
    return False


def _exposure(label: JsonObject) -> Exposure:
    known: tuple[Exposure, ...] = ("blind", "after_commit", "suggested")
    return next(one for one in known if one == label["exposure"])
