"""How far the people of a queue have come, and what they did."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import ColumnElement, Engine, ScalarSelect, Table, case, func, select

from steelyard.model.labels.queue import (
    AnnotatorProgress,
    Draft,
    ItemState,
    ListedItem,
    OwnProgress,
    QueueCounts,
)
from steelyard.store.database import few_rows
from steelyard.store.dialects import database_seconds
from steelyard.store.review.draft_rows import read_draft
from steelyard.store.review_tables import drafts, flags, gold_labels, items, slots


class ReviewProgress:
    """Reads what people have done; it never says how items were drawn."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def items(self, queue_id: str, annotator: str) -> list[ListedItem]:
        """All items of a queue as one person sees them, in order."""
        mine = (drafts.c.item_id == items.c.item_id) & (drafts.c.annotator == annotator)
        is_held = slots.c.is_submitted | (slots.c.lease_until > database_seconds())
        query = (
            select(
                *items.c["item_id", "place", "record_id", "repeat"],
                drafts.c.standing,
                _count(slots).label("required"),
                _count(slots, slots.c.annotator == annotator).label("own"),
                _count(slots, is_held & (slots.c.annotator != annotator)).label("others"),
                _count(flags, flags.c.annotator == annotator).label("flags"),
            )
            .outerjoin(drafts, mine)
            .where(items.c.queue_id == queue_id)
            .order_by(items.c.place)
        )
        return [_listed(row) for row in few_rows(self._engine, query)]

    def own(self, queue_id: str, annotator: str) -> OwnProgress:
        """How far one person has come."""
        found = self.items(queue_id, annotator)
        states = Counter(one.state for one in found)
        return OwnProgress(
            items=len(found),
            waiting=states["waiting"] + states["deferred"],
            open=states["open"],
            deferred=states["deferred"],
            skipped=states["skipped"],
            submitted=states["submitted"],
        )

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
        sums = map(func.sum, (per_item.c.slots, per_item.c.done, is_complete))
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


def _listed(row: Any) -> ListedItem:
    return ListedItem(
        item_id=row.item_id,
        place=row.place,
        record_id=row.record_id,
        repeat=row.repeat,
        state=_state(row),
        flags=row.flags,
    )


def _state(row: Any) -> ItemState:
    if row.standing in {"skipped", "submitted"}:
        return row.standing
    if row.standing == "open" and row.own:
        return "open"
    if row.others >= row.required:
        return "taken"
    return "deferred" if row.standing == "deferred" else "waiting"
