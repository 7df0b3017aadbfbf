"""Review queues: what waits for whoever looks, and a form that makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.errors import InvalidError, RequestError
from steelyard.event_loop import run_async
from steelyard.model.labels.queue import FilledBy, QueueSource, Reveal
from steelyard.results.stored_run import StoredRun
from steelyard.review.assignment import TooManyAskedError
from steelyard.review.label_precision import NeededLabels, label_precision
from steelyard.usecases.judges.review_traces import reviewed_run
from steelyard.usecases.results.graded_runs import graded_runs
from steelyard.usecases.review.queues.create_queue import (
    MOST_ITEMS,
    MOST_REVIEWS,
    Fill,
    NewQueue,
    create_queue,
)
from steelyard.usecases.review.queues.queue_views import QueueView, list_queues
from steelyard.usecases.runs.overview import OpenQueue
from steelyard.usecases.traces.assembled_traces import list_trace_sets
from steelyard.web.page import AnyPage, Context, PlainQuery, Visit, WebPage
from steelyard.web.rendering import segment
from steelyard.web.review.reviewer import REVIEW, reviewer_of
from steelyard.web.review.rubric_choice import RubricChoice, rubric_choice

_SET = "trace set "
"""What stands before the name of a trace set in the choice of a run."""
_OFFERED = 50
DEFAULT_ITEMS = 50
FILLS: Mapping[FilledBy, str] = {
    "random": "At random",
    "stratified": "In strata, each in proportion",
    "verdict": "By verdict, equally many of each",
    "near_threshold": "Most near the pass threshold",
    "jury_split": "Most where the jury is split",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuesContext(Context):
    """Every queue with how far it and the visitor have come."""

    template: ClassVar[str] = "review_queues.html"
    rows: tuple[QueueView, ...]
    who: str
    is_lead: bool

    @property
    def waiting(self) -> int:
        """Items that wait for the visitor in open queues."""
        return sum(map(_left, self.rows))


class NewQueueQuery(msgspec.Struct, frozen=True):
    """The run to draw items from."""

    run: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewQueueContext(Context):
    """The form of a new queue."""

    template: ClassVar[str] = "review_new.html"
    typed: Mapping[str, str]
    runs: tuple[StoredRun, ...]
    trace_sets: tuple[str, ...]
    rubric: RubricChoice
    needed: tuple[NeededLabels, ...]
    problem: str = ""
    size_problem: str = ""
    """Why there are not so many items."""
    default_items: int = DEFAULT_ITEMS
    fills: Mapping[FilledBy, str] = field(default_factory=lambda: FILLS)
    most_items: int = MOST_ITEMS
    most_reviews: int = MOST_REVIEWS


def waiting_queues(visit: Visit[Any]) -> tuple[QueueView, ...]:
    """The queues with items that wait for the visitor."""
    return tuple(one for one in _queues(visit) if _left(one))


def open_queues(visit: Visit[Any]) -> list[OpenQueue]:
    """The queues that people can answer, those with items for the visitor first."""
    return [
        OpenQueue(one.queue.queue_id, one.queue.name, one.queue.source.id, _left(one))
        for one in _queues(visit)
        if one.queue.status == "open"
    ]


def _queues(visit: Visit[Any]) -> tuple[QueueView, ...]:
    """Every queue with the visitor's progress, those with items for them first."""
    person = reviewer_of(visit)
    name = person.name if person else visit.identity.actor
    found = list_queues(visit.project.queue_ports(), name)
    return tuple(sorted(found, key=lambda one: not _left(one)))


def _left(view: QueueView) -> int:
    """Items that the visitor can still answer."""
    return view.own.waiting + view.own.open if view.queue.status == "open" else 0


def _list(visit: Visit[PlainQuery]) -> Context:
    person = reviewer_of(visit)
    return QueuesContext(
        title="Review",
        rows=_queues(visit),
        who=person.name if person else "",
        is_lead=visit.identity.may("runs:read"),
    )


def _new(visit: Visit[NewQueueQuery]) -> NewQueueContext:
    typed = {"run": visit.query.run, "by": "random", "reviews": "2"}
    return _form(visit, typed)


def _form(visit: Visit[NewQueueQuery], typed: Mapping[str, str]) -> NewQueueContext:
    found = graded_runs(visit.project.store)
    runs = tuple(one.run for one in found if one.metrics)[:_OFFERED]
    named = typed.get("run") or next((one.run_id for one in runs), "")
    return NewQueueContext(
        title="New queue",
        crumbs=(REVIEW,),
        typed=typed,
        runs=runs,
        trace_sets=tuple(
            f"{_SET}{one.name}" for one in list_trace_sets(visit.project.trace_ports())
        ),
        rubric=rubric_choice(visit, named, typed),
        needed=label_precision((1.0,), 1).needed,
    )


def _create(visit: Visit[NewQueueQuery]) -> Context | Response:
    form = {name: value.strip() for name, value in visit.form.items()}
    try:
        made = create_queue(visit.project.queue_ports(), _asked(visit, form), caller=visit.caller)
    except RequestError as error:
        told = visit.message(error)
        is_of_size = isinstance(error, TooManyAskedError)
        shown = replace(_form(visit, form), status=status_of(error))
        return replace(shown, size_problem=told) if is_of_size else replace(shown, problem=told)
    return RedirectResponse(f"/review/{segment(made.queue.queue_id)}/progress", 303)


def _source(visit: Visit[NewQueueQuery], name: str) -> QueueSource:
    if not name.startswith(_SET):
        return QueueSource(kind="run", id=name)
    traces, runs = visit.project.trace_ports(), visit.project.run_ports()
    return run_async(
        lambda: reviewed_run(traces, runs, name.removeprefix(_SET), caller=visit.caller)
    )


def _asked(visit: Visit[NewQueueQuery], form: Mapping[str, str]) -> NewQueue:
    by, reveal = form.get("by", ""), form.get("reveal") or "after_commit"
    if by not in FILLS:
        raise InvalidError(f"items are drawn by one of {', '.join(FILLS)}")
    if reveal not in {"after_commit", "never"}:
        raise InvalidError("the answers of others show after_commit or never")
    return NewQueue(
        name=form.get("name", ""),
        source=_source(visit, form.get("run", "")),
        fill=Fill(
            by=cast(FilledBy, by),
            size=form_number(form, "size") if form.get("size") else DEFAULT_ITEMS,
            is_at_most=not form.get("size"),
            slice=form.get("slice") or None,
        ),
        rubric=form.get("rubric") or None,
        reviews_required=form_number(form, "reviews"),
        reveal=cast(Reveal, reveal),
        instructions=form.get("instructions") or None,
    )


def form_number(form: Mapping[str, str], name: str) -> int:
    """A whole number that was typed."""
    text = form.get(name, "")
    if not text.isdecimal():
        raise InvalidError(f"{name} must be a whole number, not '{text}'")
    return int(text)


PAGES: tuple[AnyPage, ...] = (
    WebPage(path="/review", section="review", scope="review:read", show=_list),
    WebPage(
        path="/review/new",
        section="review",
        scope="registry:write",
        show=_new,
        submit=_create,
        query=NewQueueQuery,
    ),
)
