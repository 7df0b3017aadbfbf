"""The tables of review queues."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
)

from steelyard.store.tables import metadata

queues = Table(
    "review_queues",
    metadata,
    Column("queue_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("source_kind", String, nullable=False),
    Column("source_id", String, nullable=False),
    Column("rubric", String, nullable=False),
    Column("rubric_sha256", String),
    Column("rubric_row", LargeBinary, nullable=False),
    Column("reviews_required", Integer, nullable=False),
    Column("reveal", String, nullable=False),
    Column("instructions", String),
    Column("design", LargeBinary, nullable=False),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("status", String, nullable=False),
    Column("judged_by", String, nullable=False, server_default=""),
)
"""`judged_by` lists runs, with blanks between them."""

items = Table(
    "review_items",
    metadata,
    Column("item_id", String, primary_key=True),
    Column("queue_id", String, nullable=False),
    Column("place", Integer, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("record_id", String, nullable=False),
    Column("inclusion_prob", Float),
    Column("stratum", String),
    Index("ix_review_items_place", "queue_id", "place", unique=True),
)

slots = Table(
    "review_slots",
    metadata,
    Column("item_id", String, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("queue_id", String, nullable=False),
    Column("annotator", String),
    Column("token", String),
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
    Column("item_id", String, nullable=False),
    Column("annotator", String, nullable=False),
    Column("queue_id", String, nullable=False),
    Column("standing", String, nullable=False),
    Column("reason", String),
    Column("revision", Integer, nullable=False),
    Column("answers", LargeBinary, nullable=False),
    Column("committed", LargeBinary),
    Column("changed_at", String, nullable=False),
    PrimaryKeyConstraint("item_id", "annotator"),
    Index("ix_review_drafts_queue", "queue_id", "annotator"),
    sqlite_with_rowid=False,
)
"""What a person has done with an item; it stays when their slot is given to somebody else."""

flags = Table(
    "review_flags",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("queue_id", String, nullable=False),
    Column("item_id", String, nullable=False, index=True),
    Column("annotator", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("text", String, nullable=False),
    Column("at", String, nullable=False),
    Index("ix_review_flags_queue", "queue_id"),
)

gold_labels = Table(
    "gold_labels",
    metadata,
    Column("item_id", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("queue_id", String, nullable=False),
    Column("answers", LargeBinary, nullable=False),
    Column("decided_by", String, nullable=False),
    Column("decided_at", String, nullable=False),
    Column("note", String),
    Column("provenance", LargeBinary, nullable=False),
    PrimaryKeyConstraint("item_id", "revision"),
    Index("ix_gold_labels_queue", "queue_id"),
    sqlite_with_rowid=False,
)
"""The highest revision counts."""

results_seen = Table(
    "results_seen",
    metadata,
    Column("person", String, nullable=False),
    Column("source_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("at", String, nullable=False),
    PrimaryKeyConstraint("person", "source_id", "idx"),
    sqlite_with_rowid=False,
)
"""Who has opened the results of a record, and when first; -1 stands for every record of a run, and
an empty person for whoever uses a server without login."""
