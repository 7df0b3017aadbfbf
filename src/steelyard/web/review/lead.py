"""A queue for whoever leads it: progress per person, who disagrees with whom, flags, skips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.errors import InvalidError, RequestError
from steelyard.model.labels.queue import Draft, FlagKind
from steelyard.usecases.judges.tied_items import ask_about_ties, tied_items
from steelyard.usecases.review.queues.annotating import reassign_item
from steelyard.usecases.review.queues.create_queue import queue_again, set_queue_status
from steelyard.usecases.review.queues.queue_rubric import rubric_of
from steelyard.usecases.review.queues.queue_views import LeadView, lead_view
from steelyard.web.page import AnyPage, Context, PlainQuery, Visit, WebPage
from steelyard.web.rendering import segment
from steelyard.web.review.annotate_context import FLAGS
from steelyard.web.review.item_list import name_of
from steelyard.web.review.reviewer import REVIEW

_MOST_CLAIMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadContext(Context):
    """What whoever leads a queue sees."""

    template: ClassVar[str] = "review_progress.html"
    view: LeadView
    names: Mapping[str, str]
    """What people call each item."""
    questions: Mapping[str, str]
    """The text of each question."""
    claims: Sequence[Draft]
    """Items that somebody has begun and not finished."""
    tied: Sequence[str] = ()
    """Items on which people are divided evenly."""
    problem: str = ""

    @property
    def flag_words(self) -> Mapping[FlagKind, str]:
        """What flags mean."""
        return FLAGS


def _show(visit: Visit[PlainQuery]) -> LeadContext:
    ports, queue_id = visit.project.queue_ports(), visit.path["queue"]
    view = lead_view(ports, queue_id)
    open_ = [one for one in ports.progress.drafts(queue_id) if one.standing == "open"]
    return LeadContext(
        title="Progress",
        crumbs=(REVIEW,),
        view=view,
        names={one.item_id: name_of(one.record_id, one.repeat) for one in view.items},
        questions={one.key: one.label for one in rubric_of(view.queue).questions},
        claims=open_[:_MOST_CLAIMS],
        tied=[name_of(one.record_id, one.repeat) for one in tied_items(ports, queue_id)],
    )


def _change(visit: Visit[PlainQuery]) -> Context | Response:
    ports, queue_id, form = visit.project.queue_ports(), visit.path["queue"], visit.form
    action = form.get("action", "")
    try:
        if action == "reassign":
            to = form.get("to", "").strip() or None
            item_id, from_ = form.get("item", ""), form.get("from", "")
            reassign_item(ports, item_id, from_, to, caller=visit.caller)
        elif action == "again":
            made = queue_again(ports, queue_id, form.get("rubric") or None, caller=visit.caller)
            queue_id = made.queue.queue_id
        elif action == "ties":
            ask_about_ties(ports, queue_id, caller=visit.caller)
        elif action == "close":
            set_queue_status(ports, queue_id, "closed", caller=visit.caller)
        elif action == "open":
            set_queue_status(ports, queue_id, "open", caller=visit.caller)
        else:
            raise InvalidError("the form asks for one of again, close, open, reassign and ties")
    except RequestError as error:
        return replace(_show(visit), problem=visit.message(error), status=status_of(error))
    return RedirectResponse(f"/review/{segment(queue_id)}/progress", 303)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/review/{queue}/progress",
        section="review",
        scope="runs:read",
        show=_show,
        submit=_change,
        submit_scope="registry:write",
    ),
)
