"""Settle disagreements: the least agreed item first, names hidden, one gold label each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, cast

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.errors import ConflictError, InvalidError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.queue import QueueCounts
from steelyard.reports.record.record_view import expectations
from steelyard.reports.record.trace_view import whole_trace
from steelyard.reports.review_keys import ADJUDICATION_KEYS, ReviewKey, key_rows
from steelyard.usecases.review.queues.adjudication import (
    DisputedItem,
    GoldDecision,
    adjudicate,
    list_disagreements,
    show_disputed,
)
from steelyard.usecases.review.queues.exposure import ANYBODY
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.web.page import AnyPage, Context, Visit, WebPage
from steelyard.web.rendering import segment
from steelyard.web.review.annotate_context import (
    AnnotatedQueue,
    RevealedAnswer,
    ShownItem,
    queue_view,
)
from steelyard.web.review.answer_fields import answers_in, revision_in
from steelyard.web.review.item_list import name_of
from steelyard.web.review.revealed import fields_of
from steelyard.web.review.reviewer import REVIEW


class AdjudicateQuery(msgspec.Struct, frozen=True):
    """Which item, and whether those with a gold label are listed."""

    item: str | None = None
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedRow:
    """A disputed item in the list."""

    item_id: str
    name: str
    href: str
    same: int
    compared: int
    questions: int
    is_settled: bool
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjudicateContext(Context):
    """The adjudication page."""

    template: ClassVar[str] = "review_adjudicate.html"
    queue: AnnotatedQueue
    counts: QueueCounts
    rows: Sequence[DisputedRow]
    query: AdjudicateQuery
    item: ShownItem | None = None
    said: Mapping[str, Sequence[RevealedAnswer]] = field(
        default_factory=dict[str, Sequence[RevealedAnswer]]
    )
    """What was answered by field, under letters."""
    disputed: frozenset[str] = frozenset()
    """The fields that were answered differently."""
    gold: int = 0
    """The revision of the gold label that there is; 0 without one."""
    gold_note: str = ""
    decided: str = ""
    problem: str = ""

    @property
    def keys(self) -> tuple[ReviewKey, ...]:
        """The keys of the page."""
        return ADJUDICATION_KEYS

    @property
    def key_rows(self) -> list[JsonValue]:
        """The keys as the script reads them."""
        return key_rows(ADJUDICATION_KEYS)

    @property
    def page(self) -> str:
        """The address without an item."""
        return f"/review/{segment(self.queue.queue_id)}/adjudicate"


def _viewer(visit: Visit[AdjudicateQuery]) -> str:
    return visit.identity.actor if visit.served.settings.has_login else ANYBODY


def _show(visit: Visit[AdjudicateQuery]) -> AdjudicateContext:
    ports, queue_id, query = visit.project.queue_ports(), visit.path["queue"], visit.query
    queue = ports.queues.find(queue_id)
    found = list_disagreements(ports, queue_id, _viewer(visit), with_settled=query.settled)
    chosen = query.item or (found[0].item.item_id if found else None)
    context = AdjudicateContext(
        title="Adjudicate",
        crumbs=(REVIEW,),
        queue=queue_view(queue),
        counts=ports.progress.counts(queue_id),
        rows=[_row(one, queue_id, chosen, query) for one in found],
        query=query,
    )
    return context if chosen is None else _with_item(visit, context, chosen)


def _row(
    found: DisputedItem, queue_id: str, chosen: str | None, query: AdjudicateQuery
) -> DisputedRow:
    item = found.item
    more = "&settled=true" if query.settled else ""
    return DisputedRow(
        item_id=item.item_id,
        name=name_of(item.record_id, item.repeat),
        href=f"/review/{segment(queue_id)}/adjudicate?item={segment(item.item_id)}{more}",
        same=found.agreement.same,
        compared=found.agreement.compared,
        questions=len(found.questions),
        is_settled=found.gold is not None,
        is_current=item.item_id == chosen,
    )


def _with_item(
    visit: Visit[AdjudicateQuery], context: AdjudicateContext, item_id: str
) -> AdjudicateContext:
    queue, found, shown = show_disputed(visit.project.queue_ports(), item_id, _viewer(visit))
    rubric = rubric_of(queue)
    said: dict[str, list[RevealedAnswer]] = {}
    for person in found.given:
        for name, text in fields_of(answers_row(person.answers), rubric):
            said.setdefault(name, []).append(RevealedAnswer(person.name, text))
    gold = found.gold
    answers = gold.answers if gold else _agreed(found)
    disputed = {
        f"turn_{one.turn}.{one.key}" if one.turn else f"trace.{one.key}" for one in found.questions
    }
    return replace(
        context,
        item=ShownItem(
            item_id=item_id,
            name=name_of(found.item.record_id, found.item.repeat),
            trace=whole_trace(shown.request, shown.trace),
            expected=tuple(expectations(cast("JsonObject | str | None", shown.expected))),
            trace_answers=cast(JsonObject, answers["trace"]),
            turn_answers=cast("dict[str, JsonObject]", answers["turns"]),
        ),
        said=said,
        disputed=frozenset(disputed),
        gold=gold.revision if gold else 0,
        gold_note=(gold.note or "") if gold else "",
        decided=f"{gold.decided_by}, {gold.decided_at[:10]}" if gold else "",
    )


def _agreed(found: DisputedItem) -> JsonObject:
    """The answers on which everybody agrees, as a beginning of the gold label."""
    disputed = {(one.turn, one.key) for one in found.questions}
    trace: JsonObject = {}
    turns: dict[str, JsonObject] = {}
    for person in found.given:
        row = answers_row(person.answers)
        for key, value in cast(JsonObject, row["trace"]).items():
            if (0, key) not in disputed:
                trace.setdefault(key, value)
        for scope, sheet in cast("dict[str, JsonObject]", row["turns"]).items():
            for key, value in sheet.items():
                if (int(scope.removeprefix("turn_")), key) not in disputed:
                    turns.setdefault(scope, {}).setdefault(key, value)
    return {"trace": trace, "turns": {**turns}}


def _decide(visit: Visit[AdjudicateQuery]) -> Context | Response:
    form = visit.form
    item_id = form.get("item", "")
    shown = _with_item(visit, _show(visit), item_id)
    turns = shown.item.trace.turns if shown.item else 0
    answers = answers_in(form, shown.queue.form, turns)
    note = form.get("note", "").strip() or None
    try:
        decision = GoldDecision(answers=answers, revision=revision_in(form), note=note)
        adjudicate(visit.project.queue_ports(), item_id, decision, caller=visit.caller)
    except (InvalidError, ConflictError) as error:
        assert shown.item
        item = replace(
            shown.item,
            trace_answers=cast(JsonObject, answers["trace"]),
            turn_answers=cast("dict[str, JsonObject]", answers["turns"]),
        )
        return replace(
            shown,
            item=item,
            gold_note=note or "",
            problem=visit.message(error),
            status=status_of(error),
        )
    return RedirectResponse(shown.page + ("?settled=true" if visit.query.settled else ""), 303)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/review/{queue}/adjudicate",
        section="review",
        scope="registry:write",
        show=_show,
        submit=_decide,
        query=AdjudicateQuery,
        max_fields=20_000,
    ),
)
