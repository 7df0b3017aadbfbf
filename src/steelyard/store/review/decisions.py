"""Flags on review items, and the gold labels of adjudicators."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from sqlalchemy import Engine, func, insert, select

from steelyard.errors import ConflictError
from steelyard.model.audit import AuditEntry
from steelyard.model.labels.queue import Flag, GoldLabel
from steelyard.store.audit_log import add_entry
from steelyard.store.database import few_rows, translated_errors
from steelyard.store.dialects import insert_new
from steelyard.store.review.queues import json_bytes
from steelyard.store.review_tables import flags, gold_labels


class DecisionStore:
    """Flags and gold labels of a project."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add_flag(self, queue_id: str, flag: Flag, entry: AuditEntry) -> None:
        """Keep a flag."""
        with translated_errors(self._engine), self._engine.begin() as connection:
            connection.execute(insert(flags), {**asdict(flag), "queue_id": queue_id})
            add_entry(connection, entry)

    def flags(self, queue_id: str) -> list[Flag]:
        """The flags of a queue, oldest first."""
        query = select(flags).where(flags.c.queue_id == queue_id).order_by(flags.c.sequence)
        return [
            Flag(
                item_id=row.item_id,
                annotator=row.annotator,
                kind=row.kind,
                text=row.text,
                at=row.at,
            )
            for row in few_rows(self._engine, query)
        ]

    def add_gold(self, queue_id: str, label: GoldLabel, entry: AuditEntry) -> None:
        """Keep the next revision of a gold label; refuse one that somebody else has decided."""
        row = {
            **asdict(label),
            "queue_id": queue_id,
            "answers": json_bytes(label.answers),
            "provenance": json_bytes(label.provenance),
        }
        with translated_errors(self._engine), self._engine.begin() as connection:
            if connection.execute(insert_new(gold_labels), row).rowcount != 1:
                raise ConflictError(
                    f"{label.item_id} was adjudicated meanwhile; look at that decision first"
                )
            add_entry(connection, entry)

    def gold(self, queue_id: str) -> dict[str, GoldLabel]:
        """The gold labels of a queue that count, by item."""
        later = gold_labels.alias()
        newest = select(func.max(later.c.revision)).where(later.c.item_id == gold_labels.c.item_id)
        query = (
            select(gold_labels)
            .where(
                gold_labels.c.queue_id == queue_id,
                gold_labels.c.revision == newest.scalar_subquery(),
            )
            .order_by(gold_labels.c.item_id)
        )
        return {row.item_id: _gold(row) for row in few_rows(self._engine, query)}


def _gold(row: Any) -> GoldLabel:
    return GoldLabel(
        item_id=row.item_id,
        revision=row.revision,
        answers=json.loads(row.answers),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        note=row.note,
        provenance=json.loads(row.provenance),
    )
