"""Review queues: create, list and show them, claim items, and follow progress."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from steelyard.api.annotators import (
    AnnotatorPageQuery,
    AnnotatorQuery,
    Name,
    annotator_of,
)
from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.api.resources.review.annotator_bodies import (
    ClaimedBody,
    ListedItemBody,
    OwnAnswerBody,
    QueueBody,
    claimed_body,
    own_answer_body,
    queue_body,
)
from steelyard.api.resources.review.lead_bodies import (
    DisputedBody,
    LeadBody,
    disputed_body,
    lead_body,
    precision_body,
)
from steelyard.api.resources.review.queue_bodies import CreatedQueueBody, NewQueueBody
from steelyard.api.resources.run_changes import queued_run
from steelyard.api.result_notes import viewer_of
from steelyard.errors import GoneError, InvalidError, NotFoundError
from steelyard.model.labels.queue import ListedItem, QueueSource, QueueStatus
from steelyard.usecases.judges.review_traces import reviewed_run
from steelyard.usecases.judges.tied_items import ask_about_ties
from steelyard.usecases.review.queues.adjudication import list_disagreements
from steelyard.usecases.review.queues.annotating import claim_item
from steelyard.usecases.review.queues.create_queue import (
    MOST_REVIEWS,
    Fill,
    NewQueue,
    create_queue,
    raise_reviews,
    set_queue_status,
)
from steelyard.usecases.review.queues.queue_views import (
    lead_view,
    list_items,
    list_queues,
    own_answers,
    show_queue,
)


class QueueChangeBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of a queue: one of these or both."""

    status: QueueStatus | None = None
    """`closed` offers no more items; claimed ones can be finished."""
    reviews_required: Annotated[int, Meta(ge=1, le=MOST_REVIEWS)] | None = None
    """The number of people who answer each item; it can only be raised."""


class AskedItemsBody(msgspec.Struct, frozen=True):
    """Items that one more person can claim now."""

    items: list[str]
    """Those on which people are divided evenly and that nobody else could claim."""


class ClaimBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whoever claims an item."""

    annotator: Name | None = None
    """Who answers; only where there is no login, else it is the caller."""
    item_id: str | None = None
    """A given item; by default one that was begun, or else the next free one."""


class DisagreementsQuery(PageQuery, frozen=True, forbid_unknown_fields=True):
    """Which disputed items to list."""

    settled: Annotated[
        bool, Meta(description="Whether items with a gold label are listed, too.")
    ] = False


def _create(call: Call[NoQuery, NewQueueBody]) -> JsonReply:
    """Every record with a response has an inclusion probability above 0, which its label keeps.
    `precision` says how many labels an interval of a given width needs."""
    try:
        made = create_queue(call.project.queue_ports(), _new_queue(call), caller=call.caller)
    except GoneError:
        raise
    except NotFoundError as wrong:
        raise InvalidError(*wrong.args) from None  # what is missing is named by the body
    answer = CreatedQueueBody(
        made.queue.queue_id, made.items, precision_body(made.precision), made.left_out
    )
    return JsonReply(body=answer, status=201)


def _new_queue(call: Call[NoQuery, NewQueueBody]) -> NewQueue:
    body = call.body
    return NewQueue(
        name=body.name,
        source=_source(call),
        fill=Fill(
            by=body.fill.by,
            size=body.fill.size or 100,
            is_at_most=body.fill.size is None,
            slice=body.fill.slice,
            is_equal=body.fill.equal,
            seed=body.fill.seed,
            queue=body.fill.queue,
            places=tuple((one.index, one.repeat) for one in body.fill.records),
        ),
        rubric=body.rubric,
        reviews_required=body.reviews_required,
        reveal=body.reveal,
        instructions=body.instructions,
    )


def _source(call: Call[NoQuery, NewQueueBody]) -> QueueSource:
    body, project = call.body, call.project
    if body.fill.queue is not None:
        if body.run_id is not None or body.trace_set is not None:
            raise InvalidError("the items are those of `fill.queue`; name no other source")
        return project.queue_ports().queues.find(body.fill.queue).source
    if (body.run_id is None) == (body.trace_set is None):
        raise InvalidError("name either `run_id` or `trace_set`")
    if body.run_id is not None:
        return QueueSource(kind="run", id=body.run_id)
    name = body.trace_set or ""
    return queued_run(
        lambda: reviewed_run(project.trace_ports(), project.run_ports(), name, caller=call.caller)
    )


def _list(call: Call[AnnotatorPageQuery, None]) -> JsonReply:
    """Newest first, with the progress of whoever asks. Nothing says how items were drawn."""
    found = list_queues(call.project.queue_ports(), _asking(call))
    page = page_of(found, lambda one: one.queue.queue_id, call.query)
    return JsonReply(body=Page([queue_body(one) for one in page.data], page.next_cursor))


def _show(call: Call[AnnotatorQuery, None]) -> JsonReply:
    """With its rubric and instructions, and the progress of whoever asks."""
    found = show_queue(call.project.queue_ports(), call.path["queue_id"], _asking(call))
    return JsonReply(body=queue_body(found))


def _change(call: Call[NoQuery, QueueChangeBody]) -> JsonReply:
    """A closed queue can be opened again. More people per item make finished items wait again."""
    ports, queue_id, body = call.project.queue_ports(), call.path["queue_id"], call.body
    if body.status is None and body.reviews_required is None:
        raise InvalidError("name `status`, `reviews_required` or both")
    if body.status == "open":
        set_queue_status(ports, queue_id, "open", caller=call.caller)
    if body.reviews_required is not None:
        raise_reviews(ports, queue_id, body.reviews_required, caller=call.caller)
    if body.status == "closed":
        set_queue_status(ports, queue_id, "closed", caller=call.caller)
    return JsonReply(body=queue_body(show_queue(ports, queue_id, call.identity.actor)))


def _ties(call: Call[NoQuery, None]) -> JsonReply:
    """Tied items are left out of a validation, and too many refuse it; gold labels do not decide
    them. 409 where people are divided on no item."""
    asked = ask_about_ties(call.project.queue_ports(), call.path["queue_id"], caller=call.caller)
    return JsonReply(body=AskedItemsBody([one.item_id for one in asked]))


def _claim(call: Call[NoQuery, ClaimBody]) -> JsonReply | Response:
    """An item that was begun comes first, then the next one that has too few reviewers and that
    this person has neither answered nor skipped. 204 when nothing is left for this person; 409
    where a given item cannot be claimed."""
    person = annotator_of(call, call.body.annotator)
    ports = call.project.queue_ports()
    found = claim_item(ports, call.path["queue_id"], person, call.body.item_id)
    if found is None:
        return Response(status_code=204)
    return JsonReply(body=claimed_body(found))


def _items(call: Call[AnnotatorPageQuery, None]) -> JsonReply:
    """In their order, with the state that each has for whoever asks."""
    person = annotator_of(call, call.query.annotator).name
    found = list_items(call.project.queue_ports(), call.path["queue_id"], person)
    page = page_of(found, lambda one: one.item_id, call.query)
    return JsonReply(body=Page([_item_body(one) for one in page.data], page.next_cursor))


def _item_body(item: ListedItem) -> ListedItemBody:
    return ListedItemBody(
        item_id=item.item_id,
        place=item.place,
        record_id=item.record_id,
        repeat=item.repeat,
        state=item.state,
        flags=item.flags,
    )


def _answers(call: Call[AnnotatorPageQuery, None]) -> JsonReply:
    """Drafts, submitted, skipped and deferred items of whoever asks, in the order of items."""
    person = annotator_of(call, call.query.annotator)
    found = own_answers(call.project.queue_ports(), call.path["queue_id"], person)
    page = page_of(found, lambda one: one.item.item_id, call.query)
    return JsonReply(body=Page([own_answer_body(one) for one in page.data], page.next_cursor))


def _progress(call: Call[NoQuery, None]) -> JsonReply:
    """The design of the queue, what each person has done, who disagrees with whom on what, flags,
    and skipped items with their reasons."""
    return JsonReply(body=lead_body(lead_view(call.project.queue_ports(), call.path["queue_id"])))


def _disagreements(call: Call[DisagreementsQuery, None]) -> JsonReply:
    """The least agreed first. Letters stand for people and differ from item to item. Whoever asks
    is not blind about these items any more."""
    found = list_disagreements(
        call.project.queue_ports(),
        call.path["queue_id"],
        viewer_of(call),
        with_settled=call.query.settled,
    )
    page = page_of(found, lambda one: one.item.item_id, call.query)
    return JsonReply(body=Page([disputed_body(one) for one in page.data], page.next_cursor))


def _asking(call: Call[Any, Any]) -> str:
    """Whoever asks; without login and without a name, nobody in particular."""
    if call.query.annotator is None and not call.served.settings.has_login:
        return call.identity.actor
    return annotator_of(call, call.query.annotator).name


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="POST",
        path="/v1/queues",
        summary="Create a review queue from the responses of a run.",
        scope="registry:write",
        handle=_create,
        body=NewQueueBody,
        answers={201: CreatedQueueBody},
        errors=(409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/queues",
        summary="List review queues.",
        scope="review:read",
        handle=_list,
        query=AnnotatorPageQuery,
        answers={200: Page[QueueBody]},
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}",
        summary="Show a review queue.",
        scope="review:read",
        handle=_show,
        query=AnnotatorQuery,
        answers={200: QueueBody},
        errors=(404,),
    ),
    Operation(
        method="PUT",
        path="/v1/queues/{queue_id}",
        summary="Close a review queue or open it again, or have more people answer its items.",
        scope="registry:write",
        handle=_change,
        body=QueueChangeBody,
        answers={200: QueueBody},
        errors=(404, 409),
    ),
    Operation(
        method="POST",
        path="/v1/queues/{queue_id}/ties",
        summary="Ask one more person about the items on which people are divided evenly.",
        scope="registry:write",
        handle=_ties,
        answers={200: AskedItemsBody},
        errors=(404, 409),
    ),
    Operation(
        method="POST",
        path="/v1/queues/{queue_id}/claim",
        summary="Claim the next item of a review queue.",
        scope="review:write",
        handle=_claim,
        body=ClaimBody,
        answers={200: ClaimedBody, 204: None},
        errors=(404, 409, 410),
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/items",
        summary="List the items of a review queue with their states.",
        scope="review:read",
        handle=_items,
        query=AnnotatorPageQuery,
        answers={200: Page[ListedItemBody]},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/answers",
        summary="List one's own answers in a review queue.",
        scope="review:read",
        handle=_answers,
        query=AnnotatorPageQuery,
        answers={200: Page[OwnAnswerBody]},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/progress",
        summary="Show what everybody has done in a review queue.",
        scope="runs:read",
        handle=_progress,
        answers={200: LeadBody},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path="/v1/queues/{queue_id}/disagreements",
        summary="List the items that people answered differently.",
        scope="runs:read",
        handle=_disagreements,
        query=DisagreementsQuery,
        answers={200: Page[DisputedBody]},
        errors=(404, 410),
    ),
)
