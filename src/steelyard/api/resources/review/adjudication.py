"""Settle disagreements about items of review queues, and reassign items."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.resources.review.annotator_bodies import AnswersBody, GoldBody, gold_body
from steelyard.api.resources.review.answering import ITEM, Revision, Text
from steelyard.api.resources.review.lead_bodies import DisputedBody, disputed_body
from steelyard.api.result_notes import viewer_of
from steelyard.usecases.review.queues.adjudication import GoldDecision, adjudicate, show_disputed
from steelyard.usecases.review.queues.annotating import reassign_item


class ReassignBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose unfinished claim is given to whom."""

    annotator: Annotated[str, Meta(min_length=1, max_length=200)]
    """Whoever has claimed it."""
    to: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """For whom it waits; null for whoever comes next."""


class GoldDecisionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The decision of an adjudicator."""

    answers: AnswersBody
    """The answers that count as right."""
    revision: Revision = 0
    """The revision of the gold label that this one replaces; 0 if there is none."""
    note: Text | None = None
    """Why."""


class DisputedItemBody(msgspec.Struct, frozen=True):
    """An item to adjudicate."""

    item: DisputedBody
    """The answers that people gave, without names."""
    rubric: dict[str, Any]
    """The rubric that they answered."""
    request: dict[str, Any] | None
    """The messages that were sent."""
    trace: dict[str, Any]
    """The response."""
    expected: Any
    """What the record says about a good response; null where it says nothing."""


def _reassign(call: Call[NoQuery, ReassignBody]) -> Response:
    """The draft of the one is kept; the item waits for the other for a week."""
    body, ports = call.body, call.project.queue_ports()
    reassign_item(ports, call.path["item_id"], body.annotator, body.to, caller=call.caller)
    return Response(status_code=204)


def _disputed(call: Call[NoQuery, None]) -> JsonReply:
    """The trace and all answers to it, without names. Whoever asks is not blind any more."""
    ports, item_id = call.project.queue_ports(), call.path["item_id"]
    queue, found, shown = show_disputed(ports, item_id, viewer_of(call))
    body = DisputedItemBody(
        item=disputed_body(found),
        rubric=queue.rubric_row,
        request=shown.request,
        trace=shown.trace,
        expected=shown.expected,
    )
    return JsonReply(body=body)


def _adjudicate(call: Call[NoQuery, GoldDecisionBody]) -> JsonReply:
    """Kept with the answers that it was decided from. 409 if somebody else has decided meanwhile,
    or nobody has answered."""
    body = call.body
    decision = GoldDecision(
        answers=msgspec.to_builtins(body.answers), revision=body.revision, note=body.note
    )
    ports, item_id = call.project.queue_ports(), call.path["item_id"]
    gold = gold_body(adjudicate(ports, item_id, decision, caller=call.caller))
    assert gold is not None
    return JsonReply(body=gold)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path=f"{ITEM}/reassign",
        summary="Give an unfinished item to somebody else.",
        scope="registry:write",
        handle=_reassign,
        body=ReassignBody,
        answers={204: None},
        errors=(404, 409),
    ),
    Operation(
        method="GET",
        path=f"{ITEM}/disputed",
        summary="Show an item to adjudicate.",
        scope="runs:read",
        handle=_disputed,
        answers={200: DisputedItemBody},
        errors=(404, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/adjudicate",
        summary="Decide on the gold label of an item.",
        scope="registry:write",
        handle=_adjudicate,
        body=GoldDecisionBody,
        answers={200: GoldBody},
        errors=(404, 409, 410),
    ),
)
