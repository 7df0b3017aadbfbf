"""The tables of review queues."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
)

from steelyard.store.column_types import Text, Whole
from steelyard.store.tables import metadata

queues = Table(
    "review_queues",
    metadata,
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
"""`judged_by` lists runs, with blanks between them."""

items = Table(
    "review_items",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("queue_id", Text, nullable=False),
    Column("place", Whole, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("inclusion_prob", Float),
    Column("stratum", Text),
    Index("ix_review_items_place", "queue_id", "place", unique=True),
)

slots = Table(
    "review_slots",
    metadata,
    Column("item_id", Text, nullable=False),
    Column("slot", Whole, nullable=False),
    Column("queue_id", Text, nullable=False),
    Column("annotator", Text),
    Column("token", Text),
    Column("lease_until", Float),
    Column("is_submitted", Boolean, nullable=False, server_default="0"),
    Column("is_tie_break", Boolean, nullable=False, server_default="0"),
    PrimaryKeyConstraint("item_id", "slot"),
    Index("ix_review_slots_person", "item_id", "annotator", unique=True),
    Index("ix_review_slots_queue", "queue_id", "annotator"),
    sqlite_with_rowid=False,
)
"""At least as many for each item as reviews are required. One without an annotator is free, and so
is one that is not submitted and whose lease has expired. Nobody has two slots of one item. Those
for a tie-break come on top of the reviews that are required."""

drafts = Table(
    "review_drafts",
    metadata,
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
    Index("ix_review_drafts_queue", "queue_id", "annotator"),
    sqlite_with_rowid=False,
)
"""What a person has done with an item; it stays when their slot is given to somebody else."""

flags = Table(
    "review_flags",
    metadata,
    Column("sequence", Whole, primary_key=True),
    Column("queue_id", Text, nullable=False),
    Column("item_id", Text, nullable=False, index=True),
    Column("annotator", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Text, nullable=False),
    Index("ix_review_flags_queue", "queue_id"),
)

gold_labels = Table(
    "gold_labels",
    metadata,
    Column("item_id", Text, nullable=False),
    Column("revision", Whole, nullable=False),
    Column("queue_id", Text, nullable=False),
    Column("answers", LargeBinary, nullable=False),
    Column("decided_by", Text, nullable=False),
    Column("decided_at", Text, nullable=False),
    Column("note", Text),
    Column("provenance", LargeBinary, nullable=False),
    PrimaryKeyConstraint("item_id", "revision"),
    Index("ix_gold_labels_queue", "queue_id"),
    sqlite_with_rowid=False,
)
"""The highest revision counts."""

results_seen = Table(
    "results_seen",
    metadata,
    Column("person", Text, nullable=False),
    Column("source_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("person", "source_id", "idx"),
    sqlite_with_rowid=False,
)
"""Who has opened the results of a record, and when first; -1 stands for every record of a run, and
an empty person for whoever uses a server without login."""
