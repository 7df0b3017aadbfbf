"""Review queues and their items: made once, found and listed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, case, func, insert, select, update

from steelyard.errors import InvalidError, NotFoundError
from steelyard.model.audit import AuditEntry
from steelyard.model.json_value import JsonObject
from steelyard.model.labels.queue import QueueSource, QueueStatus, ReviewItem, ReviewQueue
from steelyard.store.audit_log import add_entry
from steelyard.store.database import few_rows, translated_errors
from steelyard.store.review.slots import lock_queue
from steelyard.store.review_tables import items, queues, slots


class QueueStore:
    """The review queues of a project."""

    def __init__(self, engine: Engine, new_item_id: Callable[[], str]) -> None:
        self._engine = engine
        self._new_item_id = new_item_id

    def create(self, queue: ReviewQueue, drawn: Sequence[ReviewItem], entry: AuditEntry) -> None:
        """Keep a queue with its items, each with as many slots as reviews are required."""
        identified = [replace(one, item_id=self._new_item_id()) for one in drawn]
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(insert(queues), _queue_row(queue))
            _insert(connection, queue, identified)
            add_entry(connection, entry)

    def add(
        self, queue: ReviewQueue, more: Sequence[ReviewItem], entry: AuditEntry
    ) -> Sequence[ReviewItem]:
        """Add items that a queue does not have yet after its last one; those that were added."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            lock_queue(connection, queue.queue_id)
            query = select(items.c.idx, items.c.repeat, items.c.place)
            there = connection.execute(query.where(items.c.queue_id == queue.queue_id)).all()
            known = {(row.idx, row.repeat) for row in there}
            last = max((row.place for row in there), default=0)
            new = [one for one in more if (one.index, one.repeat) not in known]
            identified = [
                replace(one, item_id=self._new_item_id(), queue_id=queue.queue_id, place=place)
                for place, one in enumerate(new, start=last + 1)
            ]
            if identified:
                _insert(connection, queue, identified)
                add_entry(connection, entry)
        return identified

    def all(self) -> list[ReviewQueue]:
        """Every queue, newest first."""
        query = select(queues).order_by(queues.c.created_at.desc(), queues.c.queue_id.desc())
        return [_queue_of(row) for row in few_rows(self._engine, query)]

    def find(self, queue_id: str) -> ReviewQueue:
        """The queue with this id."""
        query = select(queues).where(queues.c.queue_id == queue_id)
        rows = few_rows(self._engine, query)
        if not rows:
            raise NotFoundError(f"there is no review queue '{queue_id}'")
        return _queue_of(rows[0])

    def item(self, item_id: str) -> ReviewItem:
        """The item with this id."""
        rows = few_rows(self._engine, select(items).where(items.c.item_id == item_id))
        if not rows:
            raise NotFoundError(f"there is no review item '{item_id}'")
        return item_of(rows[0])

    def items(self, queue_id: str) -> list[ReviewItem]:
        """The items of a queue in order."""
        query = select(items).where(items.c.queue_id == queue_id).order_by(items.c.place)
        return [item_of(row) for row in few_rows(self._engine, query)]

    def require_reviews(self, queue_id: str, reviews: int, entry: AuditEntry) -> None:
        """Ask more people about every item; fewer than before cannot be asked."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            lock_queue(connection, queue_id)
            query = select(queues.c.reviews_required).where(queues.c.queue_id == queue_id)
            before = connection.execute(query).scalar_one()
            if reviews < before:
                raise InvalidError(
                    f"`reviews_required` of {queue_id} is {before} and can only be raised, "
                    f"not set to {reviews}"
                )
            _change(connection, queue_id, reviews_required=reviews)
            _insert_slots(
                connection,
                queue_id,
                {
                    item_id: _after(there, reviews - before)
                    for item_id, there in _reviews(connection, queue_id).items()
                },
            )
            add_entry(connection, entry)

    def ask_one_more(
        self, queue_id: str, item_ids: Collection[str], entry: AuditEntry
    ) -> Sequence[str]:
        """Let one more person answer those of some items that nobody else could claim."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            lock_queue(connection, queue_id)
            known = _reviews(connection, queue_id)
            full = [one for one in item_ids if known[one].asked == known[one].given]
            new = {one: _after(known[one], 1) for one in full}
            _insert_slots(connection, queue_id, new, is_tie_break=True)
            add_entry(connection, replace(entry, detail={**entry.detail, "items": len(full)}))
        return full

    def set_status(self, queue_id: str, status: QueueStatus, entry: AuditEntry) -> None:
        """Open a queue for claims, or close it."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            _change(connection, queue_id, status=status)
            add_entry(connection, entry)

    def add_judgement(self, queue_id: str, run_id: str, entry: AuditEntry) -> None:
        """Note a run in which a judge answers the items of a queue."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            longer = (queues.c.judged_by + " " + run_id).label("judged_by")
            _change(connection, queue_id, judged_by=longer)
            add_entry(connection, entry)


def _insert(connection: Connection, queue: ReviewQueue, new: Sequence[ReviewItem]) -> None:
    connection.execute(insert(items), [_item_row(one) for one in new])
    asked = range(1, queue.reviews_required + 1)
    _insert_slots(connection, queue.queue_id, {one.item_id: asked for one in new})


def _insert_slots(
    connection: Connection,
    queue_id: str,
    new: Mapping[str, range],
    *,
    is_tie_break: bool = False,
) -> None:
    row = {"queue_id": queue_id, "is_tie_break": is_tie_break}
    rows = [
        {"item_id": item_id, "slot": slot, **row}
        for item_id, numbers in new.items()
        for slot in numbers
    ]
    if rows:
        connection.execute(insert(slots), rows)


class _Reviews(NamedTuple):
    """How many reviews an item asks for, those of tie-breaks included, and how many it has."""

    asked: int
    given: int


def _after(there: _Reviews, more: int) -> range:
    """The numbers of further slots of an item."""
    return range(there.asked + 1, there.asked + more + 1)


def _reviews(connection: Connection, queue_id: str) -> dict[str, _Reviews]:
    """The reviews of each item of a queue."""
    done = func.sum(case((slots.c.is_submitted, 1), else_=0))
    query = select(slots.c.item_id, func.count(), done).where(slots.c.queue_id == queue_id)
    rows = connection.execute(query.group_by(slots.c.item_id)).all()
    return {item_id: _Reviews(asked, given) for item_id, asked, given in rows}


def _change(connection: Connection, queue_id: str, **values: Any) -> None:
    changed = update(queues).where(queues.c.queue_id == queue_id).values(**values)
    if not connection.execute(changed).rowcount:
        raise NotFoundError(f"there is no review queue '{queue_id}'")


def _queue_row(queue: ReviewQueue) -> dict[str, Any]:
    row = asdict(queue)
    source = row.pop("source")
    return {
        **row,
        "source_kind": source["kind"],
        "source_id": source["id"],
        "rubric_row": json_bytes(queue.rubric_row),
        "design": json_bytes(queue.design),
        "judged_by": " ".join(queue.judged_by),
    }


def _queue_of(row: Any) -> ReviewQueue:
    return ReviewQueue(
        queue_id=row.queue_id,
        name=row.name,
        source=QueueSource(kind=row.source_kind, id=row.source_id),
        rubric=row.rubric,
        rubric_sha256=row.rubric_sha256,
        rubric_row=json.loads(row.rubric_row),
        reviews_required=row.reviews_required,
        reveal=row.reveal,
        instructions=row.instructions,
        design=json.loads(row.design),
        created_at=row.created_at,
        created_by=row.created_by,
        status=row.status,
        judged_by=tuple(row.judged_by.split()),
    )


def _item_row(item: ReviewItem) -> dict[str, Any]:
    row = asdict(item)
    row["idx"] = row.pop("index")
    return row


def item_of(row: Any) -> ReviewItem:
    """The item of a whole row of its table."""
    # A queue may have 50,000: taken apart at once, rows are read in half the time.
    item_id, queue_id, place, index, repeat, record_id, inclusion_prob, stratum = row
    return ReviewItem(
        item_id=item_id,
        queue_id=queue_id,
        place=place,
        index=index,
        repeat=repeat,
        record_id=record_id,
        inclusion_prob=inclusion_prob,
        stratum=stratum,
    )


def json_bytes(value: JsonObject) -> bytes:
    """An object as it is kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
