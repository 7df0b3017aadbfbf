"""How far the people of a queue have come, and what they did."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Engine, ScalarSelect, Select, Table, case, func, select

from steelyard.model.labels.queue import (
    AnnotatorProgress,
    Draft,
    ListedItem,
    OwnProgress,
    QueueCounts,
    ReviewItem,
)
from steelyard.store.database import few_rows
from steelyard.store.dialects import database_seconds, whole_sum
from steelyard.store.review.draft_rows import read_draft
from steelyard.store.review.queues import item_of
from steelyard.store.review_tables import drafts, flags, gold_labels, items, slots


class ReviewProgress:
    """Reads what people have done; it never says how items were drawn."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def items(self, queue_id: str, annotator: str) -> list[ListedItem]:
        """All items of a queue as one person sees them, in order."""
        query = _items_of(queue_id, annotator).add_columns(
            *items.c["item_id", "place", "record_id", "repeat"],
            _count(flags, flags.c.annotator == annotator).label("flags"),
        )
        found = few_rows(self._engine, query.order_by(items.c.place))
        return [_listed(row) for row in found]

    def own(self, queue_id: str, annotator: str) -> OwnProgress:
        """How far one person has come."""
        seen = _items_of(queue_id, annotator).subquery()
        query = select(seen.c.state, func.count().label("n")).group_by(seen.c.state)
        return OwnProgress.of({row.state: row.n for row in few_rows(self._engine, query)})

    def people(self, queue_id: str) -> list[AnnotatorProgress]:
        """Everybody who has claimed an item, by name."""
        counted = {
            standing: func.sum(case((drafts.c.standing == standing, 1), else_=0)).label(standing)
            for standing in ("open", "deferred", "skipped", "submitted")
        }
        query = (
            select(
                drafts.c.annotator,
                *counted.values(),
                func.max(drafts.c.changed_at).label("last_change_at"),
            )
            .where(drafts.c.queue_id == queue_id)
            .group_by(drafts.c.annotator)
            .order_by(drafts.c.annotator)
        )
        flagged = (
            select(flags.c.annotator, func.count().label("n"))
            .where(flags.c.queue_id == queue_id)
            .group_by(flags.c.annotator)
        )
        set_by = {row.annotator: row.n for row in few_rows(self._engine, flagged)}
        return [
            AnnotatorProgress(
                annotator=row.annotator,
                open=row.open,
                deferred=row.deferred,
                skipped=row.skipped,
                submitted=row.submitted,
                flags=set_by.get(row.annotator, 0),
                last_change_at=row.last_change_at,
            )
            for row in few_rows(self._engine, query)
        ]

    def drafts(self, queue_id: str, annotator: str | None = None) -> list[Draft]:
        """What one person, or everybody, has done with items, in the order of the items."""
        query = (
            select(drafts)
            .join(items, items.c.item_id == drafts.c.item_id)
            .where(drafts.c.queue_id == queue_id)
            .order_by(items.c.place, drafts.c.annotator)
        )
        if annotator is not None:
            query = query.where(drafts.c.annotator == annotator)
        return [read_draft(row) for row in few_rows(self._engine, query)]

    def annotators(self) -> list[str]:
        """Everybody who has claimed an item of any queue."""
        query = select(drafts.c.annotator).distinct()
        return [row.annotator for row in few_rows(self._engine, query)]

    def begun(self, queue_id: str, annotator: str) -> list[ReviewItem]:
        """The items that one person has a draft of, in order."""
        query = (
            select(items)
            .join(drafts, drafts.c.item_id == items.c.item_id)
            .where(drafts.c.queue_id == queue_id, drafts.c.annotator == annotator)
            .order_by(items.c.place)
        )
        return [item_of(row) for row in few_rows(self._engine, query)]

    def missing(self, queue_id: str) -> dict[str, int]:
        """How many answers each unfinished item still needs, in the order of the items."""
        left = func.sum(case((slots.c.is_submitted, 0), else_=1))
        query = (
            select(items.c.item_id, left.label("missing"))
            .join(slots, slots.c.item_id == items.c.item_id)
            .where(items.c.queue_id == queue_id)
            .group_by(items.c.item_id, items.c.place)
            .having(left > 0)
            .order_by(items.c.place)
        )
        return {row.item_id: row.missing for row in few_rows(self._engine, query)}

    def counts(self, queue_id: str) -> QueueCounts:
        """How far the queue has come."""
        per_item = (
            select(
                func.sum(case((slots.c.is_submitted, 1), else_=0)).label("done"),
                func.count().label("slots"),
            )
            .where(slots.c.queue_id == queue_id)
            .group_by(slots.c.item_id)
            .subquery()
        )
        is_complete = case((per_item.c.done == per_item.c.slots, 1), else_=0)
        sums = map(whole_sum, (per_item.c.slots, per_item.c.done, is_complete))
        query = select(func.count(), *sums).select_from(per_item)
        total, asked, reviews, complete = few_rows(self._engine, query)[0]
        decided = select(func.count(gold_labels.c.item_id.distinct())).where(
            gold_labels.c.queue_id == queue_id
        )
        (adjudicated,) = few_rows(self._engine, decided)[0]
        return QueueCounts(
            items=total,
            asked=asked or 0,
            reviews=reviews or 0,
            complete=complete or 0,
            adjudicated=adjudicated,
        )


def _count(table: Table, *wanted: ColumnElement[bool]) -> ScalarSelect[int]:
    """How many rows of a table are about an item."""
    found = select(func.count()).select_from(table)
    return found.where(table.c.item_id == items.c.item_id, *wanted).scalar_subquery()


def _items_of(queue_id: str, annotator: str) -> Select[Any]:
    """The items of a queue with the state that each has for one person."""
    mine = (drafts.c.item_id == items.c.item_id) & (drafts.c.annotator == annotator)
    is_held = slots.c.is_submitted | (slots.c.lease_until > database_seconds())
    own = _count(slots, slots.c.annotator == annotator)
    others = _count(slots, is_held & (slots.c.annotator != annotator))
    state = case(
        (drafts.c.standing.in_(("skipped", "submitted")), drafts.c.standing),
        ((drafts.c.standing == "open") & (own > 0), "open"),
        (others >= _count(slots), "taken"),
        (drafts.c.standing == "deferred", "deferred"),
        else_="waiting",
    )
    query = select(state.label("state")).select_from(items).outerjoin(drafts, mine)
    return query.where(items.c.queue_id == queue_id)


def _listed(row: Any) -> ListedItem:
    state, item_id, place, record_id, repeat, flagged = row
    return ListedItem(
        item_id=item_id,
        place=place,
        record_id=record_id,
        repeat=repeat,
        state=state,
        flags=flagged,
    )
