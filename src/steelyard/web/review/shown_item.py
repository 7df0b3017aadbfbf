"""An item on its page: without any result before an answer, with those of others after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import Draft, ReviewItem, ReviewQueue
from steelyard.reports.record.record_view import expectations
from steelyard.reports.record.trace_view import whole_trace
from steelyard.usecases.review.queues.annotating import Annotator, ClaimedItem
from steelyard.usecases.review.queues.exposure import expected_exposure, note_own_seen
from steelyard.usecases.review.queues.ports import QueuePorts, ShownTrace
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.usecases.review.queues.reveal import reveal_answers
from steelyard.web.review.annotate_context import RevealedAnswer, ShownItem
from steelyard.web.review.item_list import name_of
from steelyard.web.review.revealed import revealed_answers


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedItem:
    """An item that somebody has submitted or skipped."""

    item: ShownItem
    revealed: Mapping[str, Sequence[RevealedAnswer]] = field(
        default_factory=dict[str, Sequence[RevealedAnswer]]
    )
    can_undo: bool = True


def claimed_item(ports: QueuePorts, claimed: ClaimedItem, person: Annotator) -> ShownItem:
    """An item that somebody answers now, and whether they do so blind."""
    claim, source = claimed.claim, ports.source(claimed.queue.source)
    exposure = expected_exposure(
        ports, source, claim.item, claim.draft, has_login=person.has_login
    )
    shown = _shown(ports, claim.item, claim.draft, claimed.shown, claim.token)
    return replace(shown, exposure=exposure)


def finished_item(
    ports: QueuePorts, queue: ReviewQueue, person: Annotator, item_id: str
) -> FinishedItem:
    """An item that somebody is done with, and what others answered if that may be seen."""
    item = ports.queues.item(item_id)
    draft = ports.assignments.draft(item_id, person.name)
    assert draft
    source = ports.source(queue.source)
    shown = _shown(ports, item, draft, source.show(item.index, item.repeat))
    indices = [item.index] if draft.says_something else []
    note_own_seen(ports, source, person.name, indices, has_login=person.has_login)
    if draft.standing != "submitted" or queue.reveal == "never":
        return FinishedItem(item=shown)
    found = reveal_answers(ports, item_id, person)
    revealed = revealed_answers(found, rubric_of(queue))
    return FinishedItem(item=shown, revealed=revealed, can_undo=found.gold is None)


def _shown(
    ports: QueuePorts, item: ReviewItem, draft: Draft, trace: ShownTrace, token: str = ""
) -> ShownItem:
    answers = draft.answers
    flags = ports.decisions.flags(item.queue_id)
    own = [one for one in flags if (one.item_id, one.annotator) == (item.item_id, draft.annotator)]
    return ShownItem(
        item_id=item.item_id,
        name=name_of(item.record_id, item.repeat),
        trace=whole_trace(trace.request, trace.trace),
        expected=tuple(expectations(cast("JsonObject | str | None", trace.expected))),
        trace_answers=cast(JsonObject, answers.get("trace") or {}),
        turn_answers=cast("dict[str, JsonObject]", answers.get("turns") or {}),
        token=token,
        revision=draft.revision,
        reason=draft.reason,
        flags=tuple(one.kind for one in own),
    )
