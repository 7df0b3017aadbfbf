"""Answer the items of review queues: save, submit, skip, defer, undo and flag."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.responses import Response

from steelyard.api.annotators import AnnotatorQuery, Name, annotator_of, token_holder
from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.resources.review.annotator_bodies import (
    AnswersBody,
    ClaimedBody,
    GoldBody,
    claimed_body,
    gold_body,
)
from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.model.labels.label import Exposure, Label
from steelyard.model.labels.queue import FlagKind
from steelyard.model.question import Answers
from steelyard.usecases.review.queues.annotating import (
    MAX_TEXT,
    GivenAnswers,
    defer_item,
    flag_item,
    save_draft,
    skip_item,
    submit_answers,
    undo_last,
)
from steelyard.usecases.review.queues.ports import JudgedItem
from steelyard.usecases.review.queues.reveal import RevealedAnswers, reveal_answers

Token = Annotated[str, Meta(min_length=1, max_length=200)]
Revision = Annotated[int, Meta(ge=0, le=2**53)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]


class GivenBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Answers to an item that was claimed."""

    token: Token
    """The token of the claim."""
    revision: Revision
    """The revision that these answers replace."""
    answers: AnswersBody
    """All answers, not only those that have changed."""


class SavedBody(msgspec.Struct, frozen=True):
    """A draft that was kept."""

    revision: int
    """The revision of the draft, for the next write."""


class SubmittedBody(msgspec.Struct, frozen=True):
    """Answers that are committed."""

    revision: int
    """Their revision."""
    exposure: Exposure
    """What this person had seen before, as far as the server knows."""


class SkipItemBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why an item is declined."""

    token: Token
    """The token of the claim."""
    reason: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    """What whoever leads the queue should know."""
    revision: Revision | None = None
    """Not compared: this step changes no answers."""


class DeferBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A claim that is put off."""

    token: Token
    """The token of the claim."""
    revision: Revision | None = None
    """Not compared: this step changes no answers."""


class UndoBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whoever takes back their last step."""

    annotator: Name | None = None
    """Who answers; only where there is no login, else it is the caller."""
    token: Token | None = None
    """Not compared: this step needs no claim."""
    revision: Revision | None = None
    """Not compared: this step changes no answers."""


class FlagBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody notes about an item."""

    kind: FlagKind
    """A gap in the guidelines, a bad item, or a note."""
    text: Text = ""
    """What about it; a note needs a text."""
    annotator: Name | None = None
    """Who answers; only where there is no login, else it is the caller."""
    token: Token | None = None
    """Not compared: this step needs no claim."""
    revision: Revision | None = None
    """Not compared: this step changes no answers."""


class LabelBody(msgspec.Struct, frozen=True):
    """What a person committed."""

    annotator: str
    """Who."""
    exposure: Exposure
    """What they had seen before."""
    answers: AnswersBody
    """Their answers."""


class JudgedBody(msgspec.Struct, frozen=True):
    """What a judge answered."""

    run_id: str
    """The run in which the judge was asked."""
    check: str
    """The check that asked it."""
    judge: str | None
    """The judge."""
    answers: AnswersBody
    """Its answers."""
    reason: str | None
    """Its verdict in words."""
    details: dict[str, Any]
    """Evidence and reasoning, question by question."""


class RevealedBody(msgspec.Struct, frozen=True):
    """Everything that was answered about an item."""

    item_id: str
    """The item."""
    own: LabelBody | None
    """The answers of whoever asks."""
    others: list[LabelBody]
    """The answers of other people."""
    judged: list[JudgedBody]
    """The answers of judges."""
    gold: GoldBody | None
    """The decision of an adjudicator."""


def _save(call: Call[NoQuery, GivenBody]) -> JsonReply:
    """Answers are checked against the rubric and the turns of the trace; required ones may be
    missing. 409 if the claim is lost, or the draft was changed elsewhere. The same answers once
    more change nothing."""
    ports, holder = call.project.queue_ports(), token_holder(call)
    revision = save_draft(ports, call.path["item_id"], _given(call.body), holder)
    return JsonReply(body=SavedBody(revision))


def _submit(call: Call[NoQuery, GivenBody]) -> JsonReply:
    """The label is kept with those of all people. Required questions must be answered. Only
    answers that were given blind validate judges; the server decides whether they were."""
    found = submit_answers(
        call.project.queue_ports(),
        call.path["item_id"],
        _given(call.body),
        token_holder(call),
        caller=call.caller,
    )
    return JsonReply(body=SubmittedBody(found.revision, found.exposure))


def _skip(call: Call[NoQuery, SkipItemBody]) -> Response:
    """The item is not offered to this person again; others may claim it."""
    skip_item(
        call.project.queue_ports(),
        call.path["item_id"],
        call.body.token,
        call.body.reason,
        token_holder(call),
        caller=call.caller,
    )
    return Response(status_code=204)


def _defer(call: Call[NoQuery, DeferBody]) -> Response:
    """The item is offered again after all others; the draft is kept."""
    ports, holder = call.project.queue_ports(), token_holder(call)
    defer_item(ports, call.path["item_id"], call.body.token, holder)
    return Response(status_code=204)


def _undo(call: Call[NoQuery, UndoBody]) -> JsonReply:
    """Reopens an item that this person submitted, skipped or deferred. A submitted label counts
    no more until it is submitted again."""
    person = annotator_of(call, call.body.annotator)
    ports, item_id = call.project.queue_ports(), call.path["item_id"]
    return JsonReply(body=claimed_body(undo_last(ports, item_id, person, caller=call.caller)))


def _flag(call: Call[NoQuery, FlagBody]) -> Response:
    """Whoever leads the queue sees it."""
    body, ports = call.body, call.project.queue_ports()
    person = annotator_of(call, body.annotator)
    flag_item(ports, call.path["item_id"], person, body.kind, body.text, caller=call.caller)
    return Response(status_code=204)


def _revealed(call: Call[AnnotatorQuery, None]) -> JsonReply:
    """409 before one's own answers are submitted. It is noted that the answers were seen: a change
    after that is not blind."""
    person = annotator_of(call, call.query.annotator)
    found = reveal_answers(call.project.queue_ports(), call.path["item_id"], person)
    return JsonReply(body=_revealed_body(found))


def _given(body: GivenBody) -> GivenAnswers:
    return GivenAnswers(body.token, body.revision, msgspec.to_builtins(body.answers))


def _revealed_body(found: RevealedAnswers) -> RevealedBody:
    return RevealedBody(
        item_id=found.item.item_id,
        own=None if found.own is None else _label_body(found.own),
        others=[_label_body(one) for one in found.others],
        judged=[_judged_body(one) for one in found.judged],
        gold=gold_body(found.gold),
    )


def _label_body(label: Label) -> LabelBody:
    row = answers_row(label.answers or Answers())
    return LabelBody(label.annotator, label.exposure, msgspec.convert(row, AnswersBody))


def _judged_body(found: JudgedItem) -> JudgedBody:
    return JudgedBody(
        run_id=found.run_id,
        check=found.check,
        judge=found.judge,
        answers=msgspec.convert(found.answers, AnswersBody),
        reason=found.reason,
        details=found.details,
    )


ITEM = "/v1/annotations/{item_id}"

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="PUT",
        path=ITEM,
        summary="Save unfinished answers.",
        scope="review:write",
        handle=_save,
        body=GivenBody,
        answers={200: SavedBody},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/submit",
        summary="Submit answers.",
        scope="review:write",
        handle=_submit,
        body=GivenBody,
        answers={200: SubmittedBody},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/skip",
        summary="Decline an item with a reason.",
        scope="review:write",
        handle=_skip,
        body=SkipItemBody,
        answers={204: None},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/defer",
        summary="Put an item off.",
        scope="review:write",
        handle=_defer,
        body=DeferBody,
        answers={204: None},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/undo",
        summary="Take back one's last step with an item.",
        scope="review:write",
        handle=_undo,
        body=UndoBody,
        answers={200: ClaimedBody},
        errors=(404, 409, 410),
    ),
    Operation(
        method="POST",
        path=f"{ITEM}/flag",
        summary="Flag an item.",
        scope="review:write",
        handle=_flag,
        body=FlagBody,
        answers={204: None},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path=f"{ITEM}/revealed",
        summary="Show what the judge and others answered, after one's own answers.",
        scope="review:read",
        handle=_revealed,
        query=AnnotatorQuery,
        answers={200: RevealedBody},
        errors=(404, 409, 410),
    ),
)
