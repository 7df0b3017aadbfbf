"""Slots of review items: claimed for a while, renewed, freed, and taken over when they expire."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, case, exists, or_, select, update

from steelyard.errors import ConflictError, NotFoundError
from steelyard.store.dialects import database_seconds, write_alone
from steelyard.store.review_tables import drafts, items, queues, slots

LEASE_S = 1800.0
"""Every write renews it; a long trace may be read for so long without a write."""
RESERVED_S = 7 * 24 * 3600.0
"""An item that was assigned to somebody by name waits for them for so long."""


def lock_queue(connection: Connection, queue_id: str) -> None:
    """Let nobody else claim in this queue before the transaction ends; refuse a closed one."""
    same = update(queues).where(queues.c.queue_id == queue_id).values(status=queues.c.status)
    connection.execute(same)
    query = select(queues.c.status).where(queues.c.queue_id == queue_id)
    _require_open(connection.execute(query).scalar(), queue_id)


def enter_queue(connection: Connection, queue_id: str, annotator: str) -> None:
    """Let nobody claim for this person, nor change the queue, before the transaction ends.

    In PostgreSQL others go on to claim meanwhile. A closed queue is refused.
    """
    write_alone(connection, f"{slots.name} {queue_id} {annotator}")
    query = select(queues.c.status).where(queues.c.queue_id == queue_id)
    found = connection.execute(query.with_for_update(read=True)).scalar()
    _require_open(found, queue_id)


def _require_open(status: str | None, queue_id: str) -> None:
    if status is None:
        raise NotFoundError(f"there is no review queue '{queue_id}'")
    if status == "closed":
        raise ConflictError(f"the queue {queue_id} is closed")


def own_slot(
    connection: Connection, queue_id: str, annotator: str, item_id: str | None = None
) -> Any:
    """The first item of a queue that a person has claimed and not finished; None without one."""
    mine = (slots.c.queue_id == queue_id) & (slots.c.annotator == annotator)
    query = select(*slots.c["item_id", "slot", "token", "is_submitted"]).join(
        items, items.c.item_id == slots.c.item_id
    )
    if item_id is None:
        mine &= slots.c.is_submitted.is_(False)
    else:
        mine &= slots.c.item_id == item_id
    return connection.execute(query.where(mine).order_by(items.c.place).limit(1)).first()


def next_free(
    connection: Connection, queue_id: str, annotator: str, item_id: str | None = None
) -> Any:
    """The first free slot of an item that a person has neither answered nor skipped.

    Items that the person has deferred come last.
    """
    deferred_at = case((drafts.c.standing == "deferred", drafts.c.changed_at), else_="")
    # Somebody whose lease has expired may still come back, as long as another slot is free.
    is_expired = case((slots.c.annotator.is_(None), 0), else_=1)
    query = (
        select(*slots.c["item_id", "slot"])
        .join(items, items.c.item_id == slots.c.item_id)
        .outerjoin(
            drafts,
            (drafts.c.item_id == slots.c.item_id) & (drafts.c.annotator == annotator),
        )
        .where(
            items.c.queue_id == queue_id,
            is_free(),
            ~has_slot(annotator),
            or_(drafts.c.standing.is_(None), drafts.c.standing.in_(("open", "deferred"))),
        )
        .order_by(deferred_at, items.c.place, is_expired, slots.c.slot)
        .limit(1)
        # What somebody else is claiming now is not waited for.
        .with_for_update(of=slots, skip_locked=True)
    )
    if item_id is not None:
        query = query.where(items.c.item_id == item_id)
    return connection.execute(query).first()


def take_slot(
    connection: Connection,
    place: tuple[str, int],
    annotator: str,
    token: str,
    lease_s: float,
) -> None:
    """Give a free slot to a person; somebody else's expired token is of no use from then on."""
    item_id, slot = place
    taken = (
        update(slots)
        .where(slots.c.item_id == item_id, slots.c.slot == slot, is_free())
        .values(annotator=annotator, token=token, lease_until=database_seconds() + lease_s)
    )
    if connection.execute(taken).rowcount != 1:
        raise ConflictError(f"{item_id} was claimed by somebody else at the same time")


def renew_slot(connection: Connection, item_id: str, token: str, lease_s: float) -> None:
    """Hold on for another while, within the transaction of a write; or refuse the write.

    A lease that has expired is renewed as long as nobody else has claimed the slot.
    """
    renewed = (
        update(slots)
        .where(slots.c.item_id == item_id, slots.c.token == token, slots.c.is_submitted.is_(False))
        .values(lease_until=database_seconds() + lease_s)
    )
    if connection.execute(renewed).rowcount != 1:
        raise lost(item_id)


def free_slot(connection: Connection, item_id: str, token: str) -> None:
    """Let somebody else claim the slot; or refuse, if it was taken over."""
    freed = (
        update(slots)
        .where(slots.c.item_id == item_id, slots.c.token == token, slots.c.is_submitted.is_(False))
        .values(annotator=None, token=None, lease_until=None)
    )
    if connection.execute(freed).rowcount != 1:
        raise lost(item_id)


def is_free() -> ColumnElement[bool]:
    """Whether nobody has a slot, or whoever had it has neither finished nor renewed it."""
    has_expired = slots.c.lease_until <= database_seconds()
    return or_(slots.c.annotator.is_(None), slots.c.is_submitted.is_(False) & has_expired)


def has_slot(annotator: str) -> ColumnElement[bool]:
    """Whether a person has a slot of the item of another slot."""
    own = slots.alias()
    return exists().where(own.c.item_id == slots.c.item_id, own.c.annotator == annotator)


def lost(item_id: str) -> ConflictError:
    """The refusal of a write without a valid token."""
    return ConflictError(
        f"{item_id} is no longer claimed with this token: it was submitted, released, or the "
        "lease expired and somebody else claimed it; claim it again"
    )
