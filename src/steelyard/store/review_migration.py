"""The steps that add review queues to a store, let their items be picked, and mark tie-breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Boolean, Column, Float, LargeBinary, PrimaryKeyConstraint

from steelyard.store.column_types import Text, Whole

if TYPE_CHECKING:
    from alembic.operations import Operations


def add_review_queues(operations: Operations) -> None:
    """Queues, items and what people do with them; labels may be withdrawn."""
    withdrawn = Column("is_withdrawn", Boolean, nullable=False, server_default="0")
    operations.add_column("annotations", withdrawn)
    _add_queues(operations)
    _add_work(operations)
    _add_decisions(operations)


def allow_picked_items(operations: Operations) -> None:
    """Items without the chance with which they were drawn."""
    # SQLite cannot change a column: the table is made again.
    operations.drop_index("ix_review_items_place", "review_items")
    operations.rename_table("review_items", "drawn_items")
    operations.create_table(
        "review_items",
        Column("item_id", Text, primary_key=True),
        Column("queue_id", Text, nullable=False),
        Column("place", Whole, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("record_id", Text, nullable=False),
        Column("inclusion_prob", Float),
        Column("stratum", Text),
    )
    operations.create_index(
        "ix_review_items_place", "review_items", ["queue_id", "place"], unique=True
    )
    operations.execute(
        "INSERT INTO review_items SELECT item_id, queue_id, place, idx, repeat, record_id, "
        "inclusion_prob, stratum FROM drawn_items"
    )
    operations.drop_table("drawn_items")


def mark_tie_breaks(operations: Operations) -> None:
    """Slots for somebody who is asked because others are divided."""
    added = Column("is_tie_break", Boolean, nullable=False, server_default="0")
    operations.add_column("review_slots", added)
    # Until now nothing else asked for more people than the queue requires.
    operations.execute(
        "UPDATE review_slots SET is_tie_break = slot > COALESCE((SELECT reviews_required FROM "
        "review_queues q WHERE q.queue_id = review_slots.queue_id), slot)"
    )


def _add_queues(operations: Operations) -> None:
    operations.create_table(
        "review_queues",
        Column("queue_id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("source_kind", Text, nullable=False),
        Column("source_id", Text, nullable=False),
        Column("rubric", Text, nullable=False),
        Column("rubric_sha256", Text),
        Column("rubric_row", LargeBinary, nullable=False),
        Column("reviews_required", Whole, nullable=False),
        Column("reveal", Text, nullable=False),
        Column("instructions", Text),
        Column("design", LargeBinary, nullable=False),
        Column("created_at", Text, nullable=False),
        Column("created_by", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("judged_by", Text, nullable=False, server_default=""),
    )
    operations.create_table(
        "review_items",
        Column("item_id", Text, primary_key=True),
        Column("queue_id", Text, nullable=False),
        Column("place", Whole, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("record_id", Text, nullable=False),
        Column("inclusion_prob", Float, nullable=False),
        Column("stratum", Text),
    )
    operations.create_index(
        "ix_review_items_place", "review_items", ["queue_id", "place"], unique=True
    )


def _add_work(operations: Operations) -> None:
    operations.create_table(
        "review_slots",
        Column("item_id", Text, nullable=False),
        Column("slot", Whole, nullable=False),
        Column("queue_id", Text, nullable=False),
        Column("annotator", Text),
        Column("token", Text),
        Column("lease_until", Float),
        Column("is_submitted", Boolean, nullable=False, server_default="0"),
        PrimaryKeyConstraint("item_id", "slot"),
        sqlite_with_rowid=False,
    )
    operations.create_index(
        "ix_review_slots_person", "review_slots", ["item_id", "annotator"], unique=True
    )
    operations.create_index("ix_review_slots_queue", "review_slots", ["queue_id", "annotator"])
    operations.create_table(
        "review_drafts",
        Column("item_id", Text, nullable=False),
        Column("annotator", Text, nullable=False),
        Column("queue_id", Text, nullable=False),
        Column("standing", Text, nullable=False),
        Column("reason", Text),
        Column("revision", Whole, nullable=False),
        Column("answers", LargeBinary, nullable=False),
        Column("committed", LargeBinary),
        Column("changed_at", Text, nullable=False),
        PrimaryKeyConstraint("item_id", "annotator"),
        sqlite_with_rowid=False,
    )
    operations.create_index("ix_review_drafts_queue", "review_drafts", ["queue_id", "annotator"])


def _add_decisions(operations: Operations) -> None:
    operations.create_table(
        "review_flags",
        Column("sequence", Whole, primary_key=True),
        Column("queue_id", Text, nullable=False),
        Column("item_id", Text, nullable=False),
        Column("annotator", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("text", Text, nullable=False),
        Column("at", Text, nullable=False),
    )
    operations.create_index("ix_review_flags_item_id", "review_flags", ["item_id"])
    operations.create_index("ix_review_flags_queue", "review_flags", ["queue_id"])
    operations.create_table(
        "gold_labels",
        Column("item_id", Text, nullable=False),
        Column("revision", Whole, nullable=False),
        Column("queue_id", Text, nullable=False),
        Column("answers", LargeBinary, nullable=False),
        Column("decided_by", Text, nullable=False),
        Column("decided_at", Text, nullable=False),
        Column("note", Text),
        Column("provenance", LargeBinary, nullable=False),
        PrimaryKeyConstraint("item_id", "revision"),
        sqlite_with_rowid=False,
    )
    operations.create_index("ix_gold_labels_queue", "gold_labels", ["queue_id"])
    operations.create_table(
        "results_seen",
        Column("person", Text, nullable=False),
        Column("source_id", Text, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("at", Text, nullable=False),
        PrimaryKeyConstraint("person", "source_id", "idx"),
        sqlite_with_rowid=False,
    )
