"""What people do with the items of a queue: claim, save, submit, skip, defer and undo.

Each verb is one transaction. A write carries the token of its claim, so that whoever has lost a
slot can no longer write to it, and the revision that it changes, so that an older one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, select, update

from steelyard.errors import ConflictError, NotFoundError
from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import Draft, ItemClaim, SlotHolder
from steelyard.store.annotations import keep_label, withdraw_label
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.review.draft_rows import (
    begin_draft,
    draft_of,
    require_draft,
    set_answers,
    set_standing,
)
from steelyard.store.review.queues import item_of
from steelyard.store.review.slots import (
    LEASE_S,
    RESERVED_S,
    enter_queue,
    free_slot,
    lock_queue,
    lost,
    next_free,
    own_slot,
    renew_slot,
    take_slot,
)
from steelyard.store.review_tables import drafts, gold_labels, items, slots


class AssignmentStore:
    """Items in the hands of people."""

    def __init__(
        self, engine: Engine, new_token: Callable[[], str], lease_s: float = LEASE_S
    ) -> None:
        self._engine = engine
        self._new_token = new_token
        self._lease_s = lease_s

    def claim(
        self, queue_id: str, annotator: str, at: str, *, item_id: str | None = None
    ) -> ItemClaim | None:
        """The next item for a person, or a given one; None when nothing is left for them.

        An item that the person has begun comes first, with the same token as before.
        """
        with self._writing() as connection:
            enter_queue(connection, queue_id, annotator)
            own = own_slot(connection, queue_id, annotator, item_id)
            if own is not None:
                if own.is_submitted:
                    raise ConflictError(f"{annotator} has answered {own.item_id}; undo reopens it")
                renew_slot(connection, own.item_id, own.token, self._lease_s)
                found = own.item_id
            else:
                free = next_free(connection, queue_id, annotator, item_id)
                if free is None and item_id is not None:
                    raise _why_not(connection, queue_id, item_id, annotator)
                if free is None:
                    return None
                self._take(connection, free, annotator)
                found = free.item_id
            begin_draft(connection, queue_id, found, annotator, at)
            return _claim(connection, found, annotator)

    def holder(self, item_id: str, token: str) -> SlotHolder:
        """Who has claimed an item with a token."""
        query = select(*slots.c["annotator", "is_tie_break"]).where(
            slots.c.item_id == item_id, slots.c.token == token
        )
        with translated_errors(self._engine), self._engine.connect() as connection:
            found = connection.execute(query).first()
        if found is None:
            raise lost(item_id)
        return SlotHolder(found.annotator, found.is_tie_break)

    def save(self, item_id: str, token: str, revision: int, answers: JsonObject, at: str) -> int:
        """Keep answers as the draft of whoever holds the token; the revision that they have now.

        The same answers once more, as after a reply that was lost, change nothing.
        """
        with self._writing() as connection:
            renew_slot(connection, item_id, token, self._lease_s)
            return set_answers(
                connection, _held(connection, item_id, token), revision, answers, at
            )

    def submit(
        self, item_id: str, token: str, revision: int, label: JsonObject, entry: AuditEntry
    ) -> int:
        """Commit answers: the label is kept with those of all people, in the same transaction."""
        answers: Any = label["answers"]
        with self._writing() as connection:
            if (done := _submitted(connection, item_id, token)) is not None:
                if done.answers == answers and done.revision == revision + 1:
                    return done.revision
                raise lost(item_id)
            renew_slot(connection, item_id, token, self._lease_s)
            draft = _held(connection, item_id, token)
            changed = set_answers(connection, draft, revision, answers, entry.at, is_final=True)
            set_standing(connection, draft, "submitted", entry.at, committed=label)
            mine = (slots.c.item_id == item_id) & (slots.c.token == token)
            connection.execute(
                update(slots).where(mine).values(is_submitted=True, lease_until=None)
            )
            keep_label(connection, label, entry.at, is_replacing=True)
            add_entry(connection, entry)
            return changed

    def skip(self, item_id: str, token: str, reason: str, entry: AuditEntry) -> None:
        """Decline an item for good: it is never offered to this person again."""
        with self._writing() as connection:
            draft = self._released(connection, item_id, token)
            set_standing(connection, draft, "skipped", entry.at, reason=reason)
            add_entry(connection, entry)

    def defer(self, item_id: str, token: str, at: str) -> None:
        """Put an item off: it is offered to this person again after all others."""
        with self._writing() as connection:
            draft = self._released(connection, item_id, token)
            set_standing(connection, draft, "deferred", at)

    def undo(self, item_id: str, annotator: str, entry: AuditEntry) -> ItemClaim:
        """Take back the last step of a person: a submission, a skip or a deferral."""
        with self._writing() as connection:
            queue_id = _queue_of(connection, item_id)
            lock_queue(connection, queue_id)
            draft = require_draft(connection, item_id, annotator)
            if draft.standing == "open":
                raise ConflictError(f"{annotator} has neither submitted nor skipped {item_id}")
            if draft.standing == "submitted":
                _require_undecided(connection, item_id)
                self._reopen(connection, item_id, annotator)
                assert draft.committed is not None
                withdraw_label(connection, draft.committed, entry.at)
            set_standing(connection, draft, "open", entry.at)
            if draft.standing != "submitted":
                free = next_free(connection, queue_id, annotator, item_id)
                if free is None:
                    raise _why_not(connection, queue_id, item_id, annotator)
                self._take(connection, free, annotator)
            add_entry(connection, entry)
            return _claim(connection, item_id, annotator)

    def reassign(
        self, item_id: str, from_person: str, to_person: str | None, entry: AuditEntry
    ) -> None:
        """Take an unfinished item from a person, whose draft is kept, and give it to another."""
        with self._writing() as connection:
            queue_id = _queue_of(connection, item_id)
            lock_queue(connection, queue_id)
            held = own_slot(connection, queue_id, from_person, item_id)
            if held is None or held.is_submitted:
                raise ConflictError(f"{from_person} has no unfinished claim of {item_id}")
            free_slot(connection, item_id, held.token)
            if to_person is not None:
                if next_free(connection, queue_id, to_person, item_id) is None:
                    raise _why_not(connection, queue_id, item_id, to_person)
                place = (item_id, held.slot)
                take_slot(connection, place, to_person, self._new_token(), RESERVED_S)
                begin_draft(connection, queue_id, item_id, to_person, entry.at)
            add_entry(connection, entry)

    def draft(self, item_id: str, annotator: str) -> Draft | None:
        """What a person has done with an item; None if nothing."""
        with translated_errors(self._engine), self._engine.connect() as connection:
            return draft_of(connection, item_id, annotator)

    def _take(self, connection: Connection, free: Any, annotator: str) -> None:
        place = (free.item_id, free.slot)
        take_slot(connection, place, annotator, self._new_token(), self._lease_s)

    def _released(self, connection: Connection, item_id: str, token: str) -> Draft:
        renew_slot(connection, item_id, token, self._lease_s)
        draft = _held(connection, item_id, token)
        free_slot(connection, item_id, token)
        return draft

    def _reopen(self, connection: Connection, item_id: str, annotator: str) -> None:
        mine = (slots.c.item_id == item_id) & (slots.c.annotator == annotator)
        connection.execute(update(slots).where(mine).values(is_submitted=False))
        own = connection.execute(select(slots.c.token).where(mine)).scalar_one()
        renew_slot(connection, item_id, own, self._lease_s)

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        with translated_errors(self._engine), self._engine.begin() as connection:
            yield connection


def _held(connection: Connection, item_id: str, token: str) -> Draft:
    """The draft of whoever holds a token that was checked before."""
    query = select(slots.c.annotator).where(slots.c.item_id == item_id, slots.c.token == token)
    return require_draft(connection, item_id, connection.execute(query).scalar_one())


def _submitted(connection: Connection, item_id: str, token: str) -> Draft | None:
    """The draft of a slot that was submitted with this token; takes the lock for writing."""
    mine = (slots.c.item_id == item_id) & (slots.c.token == token)
    connection.execute(update(slots).where(mine).values(token=slots.c.token))
    done = select(slots.c.annotator).where(
        slots.c.item_id == item_id, slots.c.token == token, slots.c.is_submitted
    )
    annotator = connection.execute(done).scalar()
    return None if annotator is None else require_draft(connection, item_id, annotator)


def _claim(connection: Connection, item_id: str, annotator: str) -> ItemClaim:
    mine = (slots.c.item_id == item_id) & (slots.c.annotator == annotator)
    query = select(*slots.c["token", "lease_until"]).where(mine)
    slot = connection.execute(query).one()
    item = connection.execute(select(items).where(items.c.item_id == item_id)).one()
    return ItemClaim(
        item=item_of(item),
        annotator=annotator,
        token=slot.token,
        lease_expires_at=slot.lease_until,
        draft=require_draft(connection, item_id, annotator),
    )


def _queue_of(connection: Connection, item_id: str) -> str:
    query = select(items.c.queue_id).where(items.c.item_id == item_id)
    found = connection.execute(query).scalar()
    if found is None:
        raise NotFoundError(f"there is no review item '{item_id}'")
    return found


def _require_undecided(connection: Connection, item_id: str) -> None:
    query = select(gold_labels.c.revision).where(gold_labels.c.item_id == item_id).limit(1)
    if connection.execute(query).first() is not None:
        raise ConflictError(f"{item_id} is adjudicated; its answers no longer change")


def _why_not(
    connection: Connection, queue_id: str, item_id: str, annotator: str
) -> ConflictError | NotFoundError:
    """Why a person cannot claim one item."""
    if _queue_of(connection, item_id) != queue_id:
        return NotFoundError(f"{item_id} is not an item of {queue_id}")
    standing = connection.execute(
        select(drafts.c.standing).where(
            drafts.c.item_id == item_id, drafts.c.annotator == annotator
        )
    ).scalar()
    if standing == "skipped":
        return ConflictError(f"{annotator} has skipped {item_id}; undo takes that back")
    return ConflictError(f"{item_id} has as many reviewers as it needs")
