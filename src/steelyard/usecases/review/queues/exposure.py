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
_OWN = "\t"
"""Before the name of a person whose own answers somebody opened without login; no name has it."""


def note_results_seen(
    ports: QueuePorts, source: TraceSource, person: str, indices: Collection[int] | None
) -> None:
    """Note that a person opened the results of some records, or of all of them."""
    ports.seen.note(person, source.ids, indices, ports.clock.stamp())


def note_others_seen(
    ports: QueuePorts, source: TraceSource, person: str, index: int, *, has_login: bool
) -> None:
    """Note that the answers of others were opened; without login nobody knows by whom."""
    for who in (person,) if has_login else (person, ANYBODY):
        note_results_seen(ports, source, who, [index])


def note_own_seen(
    ports: QueuePorts,
    source: TraceSource,
    person: str,
    indices: Collection[int],
    *,
    has_login: bool,
) -> None:
    """Note that a person's own answers were opened: without login, maybe by somebody else."""
    if indices and not has_login:
        note_results_seen(ports, source, f"{_OWN}{person}", indices)


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
    people = {draft.annotator}
    if not has_login:
        own = f"{_OWN}{draft.annotator}"
        shown = (one for one in ports.seen.people() if one.startswith(_OWN) and one != own)
        people |= {ANYBODY, *shown}
    has_seen = has_seen_response(ports, source, (item.index, item.repeat), people)
    if before is None:
        return "suggested" if has_seen else "blind"
    if has_seen and _exposure(before) == "blind":
        return "after_commit"
    return _exposure(before)


def has_seen_response(
    ports: QueuePorts, source: TraceSource, place: tuple[int, int], people: Collection[str]
) -> bool:
    """Whether any of them opened results of a response, here or in another run that has it."""
    index, repeat = place
    if ports.seen.has_seen(people, source.ids, index):
        return True
    own, content = source.ids, source.content(index, repeat)
    for run_id in ports.seen.sources(people):
        if run_id in own:
            continue
        try:
            other = ports.source(QueueSource(kind="run", id=run_id))
            indices = other.holding(content, index)
        except RequestError:
            continue  # the run is gone
        if any(ports.seen.has_seen(people, (run_id,), one) for one in indices):
            return True
    return False


def has_seen_record(ports: QueuePorts, record: str, people: Collection[str]) -> bool:
    """Whether any of them opened results of a record with this id in any run."""
    for run_id in ports.seen.sources(people):
        try:
            indices = ports.source(QueueSource(kind="run", id=run_id)).named(record)
        except RequestError:
            continue  # the run is gone, or has no such record
        if any(ports.seen.has_seen(people, (run_id,), one) for one in indices):
            return True
    return False


def _exposure(label: JsonObject) -> Exposure:
    known: tuple[Exposure, ...] = ("blind", "after_commit", "suggested")
    return next(one for one in known if one == label["exposure"])
