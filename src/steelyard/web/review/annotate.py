"""The annotation page: one item of a queue with its questions, by script or by plain forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import status_of
from steelyard.errors import ConflictError, InvalidError, NotFoundError
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import FlagKind, ListedItem, OwnProgress, ReviewQueue, Standing
from steelyard.usecases.review.queues.annotating import (
    Annotator,
    GivenAnswers,
    claim_item,
    defer_item,
    flag_item,
    save_draft,
    skip_item,
    submit_answers,
    undo_last,
)
from steelyard.usecases.review.queues.ports import QueuePorts
from steelyard.web.page import AnyPage, Context, Visit, WebPage
from steelyard.web.review.annotate_context import (
    FLAGS,
    AnnotateContext,
    AnnotateQuery,
    DoneItem,
    Mode,
    ShownItem,
    queue_view,
)
from steelyard.web.review.answer_fields import answers_in, revision_in
from steelyard.web.review.item_list import FILTERS, STATES, ItemAddress, item_list, name_of
from steelyard.web.review.own_work import own_work
from steelyard.web.review.reviewer import ask_name, reviewer_of
from steelyard.web.review.shown_item import claimed_item, finished_item

ItemVisit = Visit[AnnotateQuery]
LIST_COOKIE = "steelyard_list_hidden"
"""Set by the page's script, so that the next page comes without the list at once."""
_MOST_FIELDS = 20_000
"""A trace of a thousand turns with several questions each."""
_FINISHED: dict[Standing, Mode] = {"submitted": "submitted", "skipped": "skipped"}


@dataclass(frozen=True, slots=True)
class _Desk:
    """One queue as one person sees it."""

    visit: ItemVisit
    ports: QueuePorts
    queue: ReviewQueue
    person: Annotator

    @property
    def address(self) -> ItemAddress:
        """The addresses of the items, with the filters of this visit."""
        query = self.visit.query
        state = query.state if query.state in FILTERS else ""
        return ItemAddress(queue_id=self.queue.queue_id, state=state, q=query.q, view=query.view)

    def show(self, item_id: str | None) -> AnnotateContext:
        """The given item, or the next one; one that is finished is only shown."""
        if item_id is not None and (finished := self._finished(item_id)):
            return finished
        try:
            claimed = claim_item(self.ports, self.queue.queue_id, self.person, item_id)
        except ConflictError as error:
            mode = "taken" if item_id else "empty"
            problem = self.visit.message(error)
            return replace(self.context(mode, None, item_id), problem=problem)
        if claimed is None:
            return self.context("empty", None)
        return self.context("answer", claimed_item(self.ports, claimed, self.person))

    def _finished(self, item_id: str) -> AnnotateContext | None:
        """The item, if this person has submitted or skipped it."""
        self.require(item_id)
        draft = self.ports.assignments.draft(item_id, self.person.name)
        mode = _FINISHED.get(draft.standing) if draft else None
        if mode is None:
            return None
        shown = finished_item(self.ports, self.queue, self.person, item_id)
        context = self.context(mode, shown.item)
        return replace(context, revealed=shown.revealed, can_undo=shown.can_undo)

    def require(self, item_id: str) -> None:
        """Refuse an item of another queue."""
        if self.ports.queues.item(item_id).queue_id != self.queue.queue_id:
            raise NotFoundError(f"'{item_id}' is not an item of {self.queue.name}")

    def context(
        self, mode: Mode, item: ShownItem | None, item_id: str | None = None
    ) -> AnnotateContext:
        """The page around an item; the items of the queue, which may be many, are read once."""
        current = item.item_id if item else item_id
        items = self.ports.progress.items(self.queue.queue_id, self.person.name)
        work = own_work(self.ports, self.queue, self.person.name)
        listed = item_list(items, work, self.address, current)
        title = f"{item.name}, {self.queue.name}" if item else self.queue.name
        return AnnotateContext(
            title=title,
            mode=mode,
            queue=queue_view(self.queue),
            who=self.person.name,
            has_login=self.person.has_login,
            progress=OwnProgress.of(Counter(one.state for one in items)),
            items=listed,
            address=self.address,
            item=item,
            place=next((one.place for one in items if one.item_id == current), 0),
            done=self._done(items),
            is_raw=self.visit.query.view == "raw",
            is_list_hidden=LIST_COOKIE in self.visit.request.cookies,
        )

    def _done(self, items: list[ListedItem]) -> DoneItem | None:
        """The item that the address says was finished, if it was."""
        for one in items:
            if one.item_id == self.visit.query.done and one.state in {*_FINISHED, "deferred"}:
                return DoneItem(
                    item_id=one.item_id,
                    name=name_of(one.record_id, one.repeat),
                    state=STATES[one.state],
                    href=self.address.item(one.item_id),
                )
        return None

    def refused(self, error: Exception) -> AnnotateContext:
        """The same item with what was typed, and why it was not kept."""
        shown = self.show(self.visit.form.get("item", ""))
        if shown.item is None or shown.mode != "answer":
            return replace(shown, problem=self.visit.message(error), status=status_of(error))
        answers = self.answers(shown)
        item = replace(
            shown.item,
            trace_answers=cast(JsonObject, answers["trace"]),
            turn_answers=cast("dict[str, JsonObject]", answers["turns"]),
        )
        details = error.details if isinstance(error, InvalidError) else None
        findings = [(one["path"], one["message"]) for one in (details or {}).get("findings", ())]
        problem = self.visit.message(error)
        if isinstance(error, ConflictError):
            problem = (
                "This item was changed in another window since you opened it. You see what you "
                "have answered here; send it again to replace the other answers."
            )
        return replace(
            shown, item=item, problem=problem, findings=findings, status=status_of(error)
        )

    def answers(self, shown: AnnotateContext) -> JsonObject:
        """What the form of this visit answers."""
        turns = shown.item.trace.turns if shown.item else 0
        return answers_in(self.visit.form, shown.form, turns)

    def given(self) -> GivenAnswers:
        """The answers of the form with its claim."""
        form = self.visit.form
        shown = self.show(form.get("item", ""))
        return GivenAnswers(form.get("token", ""), revision_in(form), self.answers(shown))


def _desk(visit: ItemVisit) -> _Desk | None:
    person = reviewer_of(visit)
    if person is None:
        return None
    ports = visit.project.queue_ports()
    return _Desk(visit, ports, ports.queues.find(visit.path["queue"]), person)


def _show(visit: ItemVisit) -> Context | Response:
    desk = _desk(visit)
    return ask_name(visit) if desk is None else desk.show(visit.query.item)


def _save(desk: _Desk, item_id: str) -> str:
    save_draft(desk.ports, item_id, desk.given(), desk.person)
    return desk.address.item(item_id)


def _submit(desk: _Desk, item_id: str) -> str:
    visit = desk.visit
    submit_answers(desk.ports, item_id, desk.given(), desk.person, caller=visit.caller)
    return desk.address.item(done=item_id)


def _skip(desk: _Desk, item_id: str) -> str:
    form = desk.visit.form
    reason = form.get("reason", "").strip() or form.get("why", "")
    token = form.get("token", "")
    skip_item(desk.ports, item_id, token, reason, desk.person, caller=desk.visit.caller)
    return desk.address.item(done=item_id)


def _defer(desk: _Desk, item_id: str) -> str:
    defer_item(desk.ports, item_id, desk.visit.form.get("token", ""), desk.person)
    return desk.address.item(done=item_id)


def _undo(desk: _Desk, item_id: str) -> str:
    undo_last(desk.ports, item_id, desk.person, caller=desk.visit.caller)
    return desk.address.item(item_id)


def _flag(desk: _Desk, item_id: str) -> str:
    form = desk.visit.form
    kind = form.get("kind", "")
    if kind not in FLAGS:
        raise InvalidError(f"an item is flagged as one of {', '.join(FLAGS)}")
    flag_item(
        desk.ports,
        item_id,
        desk.person,
        cast(FlagKind, kind),
        form.get("text", "").strip(),
        caller=desk.visit.caller,
    )
    return desk.address.item(item_id)


_ACTIONS: dict[str, Callable[[_Desk, str], str]] = {
    "save": _save,
    "submit": _submit,
    "skip": _skip,
    "defer": _defer,
    "undo": _undo,
    "flag": _flag,
}


def _act(visit: ItemVisit) -> Context | Response:
    desk = _desk(visit)
    if desk is None:
        return ask_name(visit)
    act = _ACTIONS.get(visit.form.get("action", ""))
    if act is None:
        raise InvalidError(f"the form asks for one of {', '.join(_ACTIONS)}")
    item_id = visit.form.get("item", "")
    desk.require(item_id)
    try:
        return RedirectResponse(act(desk, item_id), 303)
    except (InvalidError, ConflictError) as error:
        return desk.refused(error)


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/review/{queue}",
        section="review",
        scope="review:write",
        show=_show,
        submit=_act,
        query=AnnotateQuery,
        max_fields=_MOST_FIELDS,
    ),
)
