"""Answer the items of a queue: claim, save, submit, skip, defer, undo and flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, cast

from steelyard.errors import ConflictError, InvalidError, argument
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.labels.label import Exposure, Label
from steelyard.model.labels.queue import Draft, Flag, FlagKind, ItemClaim, ReviewItem, ReviewQueue
from steelyard.model.names import other_spelling, require_name
from steelyard.model.question import Answers
from steelyard.usecases.review.import_labels import kept_row
from steelyard.usecases.review.queues.exposure import exposure_of, note_own_seen
from steelyard.usecases.review.queues.ports import QueuePorts, ShownTrace, TraceSource
from steelyard.usecases.review.queues.queue_rubric import checked_answers, rubric_of

MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotator:
    """Whoever answers: a logged-in user, or on a server without login a name they give."""

    name: str
    has_login: bool


class ClaimedItem(NamedTuple):
    """An item with all that its page shows before an answer is committed."""

    claim: ItemClaim
    queue: ReviewQueue
    shown: ShownTrace


class GivenAnswers(NamedTuple):
    """Answers with the claim and the revision that they belong to."""

    token: str
    revision: int
    answers: JsonValue


class Submitted(NamedTuple):
    """An annotation that is committed."""

    revision: int
    exposure: Exposure


def claim_item(
    ports: QueuePorts, queue_id: str, annotator: Annotator, item_id: str | None = None
) -> ClaimedItem | None:
    """The next item for a person, or a given one; None when nothing is left for them."""
    require_name(argument("annotator"), annotator.name)
    if not annotator.has_login:
        require_own_spelling(ports, argument("annotator"), annotator.name)
    at = ports.clock.stamp()
    claim = ports.assignments.claim(queue_id, annotator.name, at, item_id=item_id)
    return None if claim is None else _claimed(ports, claim, annotator)


def require_own_spelling(ports: QueuePorts, what: str, name: str) -> None:
    """Refuse another spelling of a known name: one person would count as two."""
    known = other_spelling(
        name, (*ports.progress.annotators(), *ports.review.annotations.people())
    )
    if known is not None:
        raise InvalidError(
            f"{what} {name!a} is another spelling of {known!a}, who has answered before; write "
            f"{known!a} if that is the same person, else a name that differs in more"
        )


def save_draft(
    ports: QueuePorts, item_id: str, given: GivenAnswers, annotator: Annotator | None
) -> int:
    """Keep unfinished answers; the new revision. Required questions may be missing."""
    work = _work(ports, item_id, given.token, annotator)
    kept = work.kept(ports, work.checked(given.answers, is_complete=False))
    at = ports.clock.stamp()
    return ports.assignments.save(item_id, given.token, given.revision, kept, at)


def submit_answers(
    ports: QueuePorts,
    item_id: str,
    given: GivenAnswers,
    annotator: Annotator | None,
    *,
    caller: Caller | None = None,
) -> Submitted:
    """Commit answers as a label; what the person had seen before is decided here."""
    ports = ports.called_by(caller)
    work = _work(ports, item_id, given.token, annotator)
    answers = work.checked(given.answers, is_complete=True)
    exposure = exposure_of(
        ports,
        work.source,
        work.item,
        work.draft,
        work.kept(ports, answers),
        has_login=annotator is not None and annotator.has_login,
    )
    label = work.label(ports, answers, exposure)
    entry = ports.entry("submit_annotation", item_id, queue=work.queue.queue_id)
    revision = ports.assignments.submit(item_id, given.token, given.revision, label, entry)
    return Submitted(revision, exposure)


def skip_item(
    ports: QueuePorts,
    item_id: str,
    token: str,
    reason: str,
    annotator: Annotator | None,
    *,
    caller: Caller | None = None,
) -> None:
    """Decline an item with a reason; it is not offered to this person again."""
    ports = ports.called_by(caller)
    work = _work(ports, item_id, token, annotator)
    _require_text("reason", reason)
    text = ports.review.redactor().text(reason)
    entry = ports.entry("skip_item", item_id, queue=work.queue.queue_id)
    ports.assignments.skip(item_id, token, text, entry)


def defer_item(ports: QueuePorts, item_id: str, token: str, annotator: Annotator | None) -> None:
    """Put an item off until all others are done."""
    _work(ports, item_id, token, annotator)
    ports.assignments.defer(item_id, token, ports.clock.stamp())


def undo_last(
    ports: QueuePorts, item_id: str, annotator: Annotator, *, caller: Caller | None = None
) -> ClaimedItem:
    """Reopen an item that this person submitted, skipped or deferred.

    A label that was submitted counts no more until it is submitted again.
    """
    ports = ports.called_by(caller)
    item = ports.queues.item(item_id)
    entry = ports.entry("undo_annotation", item_id, queue=item.queue_id)
    claim = ports.assignments.undo(item_id, annotator.name, entry)
    return _claimed(ports, claim, annotator)


def flag_item(
    ports: QueuePorts,
    item_id: str,
    annotator: Annotator,
    kind: FlagKind,
    text: str = "",
    *,
    caller: Caller | None = None,
) -> Flag:
    """Tell whoever leads the queue about a gap in the guidelines, a bad item or something else."""
    ports = ports.called_by(caller)
    item = ports.queues.item(item_id)
    if kind == "note" or text:
        _require_text("text", text)
    flag = Flag(
        item_id=item_id,
        annotator=annotator.name,
        kind=kind,
        text=ports.review.redactor().text(text),
        at=ports.clock.stamp(),
    )
    entry = ports.entry("flag_item", item_id, queue=item.queue_id, kind=kind)
    ports.decisions.add_flag(item.queue_id, flag, entry)
    return flag


def reassign_item(
    ports: QueuePorts,
    item_id: str,
    from_person: str,
    to_person: str | None,
    *,
    caller: Caller | None = None,
) -> None:
    """Take an unfinished item from one person, and give it to another or to whoever comes next."""
    ports = ports.called_by(caller)
    if to_person is not None:
        require_name(argument("to"), to_person)
        require_own_spelling(ports, argument("to"), to_person)
    ports.queues.item(item_id)
    detail: dict[str, JsonValue] = {"from": from_person, "to": to_person}
    entry = ports.entry("reassign_item", item_id, **detail)
    ports.assignments.reassign(item_id, from_person, to_person, entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """A claimed item with all that its answers are checked against."""

    queue: ReviewQueue
    item: ReviewItem
    draft: Draft
    source: TraceSource
    is_tie_break: bool
    """Whether somebody is asked because others are divided on the item."""

    def checked(self, value: JsonValue, *, is_complete: bool) -> Answers:
        """Answers that fit the rubric and the turns of the trace."""
        turns = self.source.show(self.item.index, self.item.repeat).turns
        return checked_answers(rubric_of(self.queue), value, turns, is_complete=is_complete)

    def label(self, ports: QueuePorts, answers: Answers, exposure: Exposure) -> JsonObject:
        """The row of a label, redacted."""
        label = Label(
            record_id=self.item.record_id,
            rubric=self.queue.rubric,
            annotator=self.draft.annotator,
            exposure=exposure,
            run_id=self.queue.source.id,
            repeat=self.item.repeat,
            queue_id=self.queue.queue_id,
            inclusion_prob=self.item.inclusion_prob,
            is_tie_break=self.is_tie_break,
            answers=answers,
            rubric_sha256=self.queue.rubric_sha256,
            extra={} if self.item.stratum is None else {"stratum": self.item.stratum},
        )
        return kept_row(label, ports.review.redactor())

    def kept(self, ports: QueuePorts, answers: Answers) -> JsonObject:
        """Answers as they are stored: redacted, in the shape of the contract."""
        return cast(JsonObject, self.label(ports, answers, "blind")["answers"])


def _work(ports: QueuePorts, item_id: str, token: str, annotator: Annotator | None) -> _Work:
    """The work of whoever holds a token; a token of somebody else is as good as none."""
    item = ports.queues.item(item_id)
    holder = ports.assignments.holder(item_id, token)
    if annotator is not None and annotator.has_login and annotator.name != holder.annotator:
        raise ConflictError(f"the token belongs to a claim of somebody else, not {annotator.name}")
    queue = ports.queues.find(item.queue_id)
    draft = ports.assignments.draft(item_id, holder.annotator)
    assert draft is not None
    return _Work(
        queue=queue,
        item=item,
        draft=draft,
        source=ports.source(queue.source),
        is_tie_break=holder.is_tie_break,
    )


def _claimed(ports: QueuePorts, claim: ItemClaim, annotator: Annotator) -> ClaimedItem:
    queue = ports.queues.find(claim.item.queue_id)
    source = ports.source(queue.source)
    shown = source.show(claim.item.index, claim.item.repeat)
    indices = [claim.item.index] if claim.draft.says_something else []
    note_own_seen(ports, source, annotator.name, indices, has_login=annotator.has_login)
    return ClaimedItem(claim, queue, shown)


def _require_text(name: str, text: str) -> None:
    if not text.strip() or len(text) > MAX_TEXT:
        raise InvalidError(f"{argument(name)} must be a text of 1 to {MAX_TEXT:,} characters")
