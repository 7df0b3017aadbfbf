"""What one person has answered in a queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from starlette.responses import Response

from steelyard.model.labels.queue import OwnProgress
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.usecases.review.queues.queue_views import own_answers, show_queue
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.review.item_list import STATES, ItemAddress, name_of
from steelyard.web.review.revealed import fields_of
from steelyard.web.review.reviewer import REVIEW, ask_name, reviewer_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredItem:
    """One item with what was answered, in words."""

    name: str
    href: str
    state: str
    reason: str | None
    changed_at: str
    exposure: str
    answers: Sequence[str]
    """The answer to each question about the trace; empty where there is none."""
    turns: int
    """Turns that were answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MyAnswersContext(Context):
    """The answers of one person."""

    template: ClassVar[str] = "review_answers.html"
    who: str
    address: ItemAddress
    progress: OwnProgress
    questions: Sequence[str]
    has_turns: bool
    rows: Sequence[AnsweredItem]


def _show(visit: Visit[PlainQuery]) -> Context | Response:
    person = reviewer_of(visit)
    if person is None:
        return ask_name(visit)
    ports, queue_id = visit.project.queue_ports(), visit.path["queue"]
    view = show_queue(ports, queue_id, person.name)
    rubric = rubric_of(view.queue)
    asked = rubric.asked("trace")
    address = ItemAddress(queue_id=queue_id)
    rows: list[AnsweredItem] = []
    for item, draft in own_answers(ports, queue_id, person):
        said = dict(fields_of(draft.answers, rubric))
        rows.append(
            AnsweredItem(
                name=name_of(item.record_id, item.repeat),
                href=address.item(item.item_id),
                state=STATES[draft.standing],
                reason=draft.reason,
                changed_at=draft.changed_at,
                exposure=str((draft.committed or {}).get("exposure", "")).replace("_", " "),
                answers=[said.get(f"trace.{key}", "") for key in asked],
                turns=len(draft.answers.get("turns") or {}),  # pyright: ignore[reportArgumentType]
            )
        )
    return MyAnswersContext(
        title="Your answers",
        crumbs=(REVIEW, Crumb(view.queue.name, address.page)),
        who=person.name,
        address=address,
        progress=view.own,
        questions=[one.label for one in asked.values()],
        has_turns=bool(rubric.asked("turn")),
        rows=rows,
    )


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/review/{queue}/answers", section="review", scope="review:write", show=_show),
)
