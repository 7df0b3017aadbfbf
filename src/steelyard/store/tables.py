"""The tables of the run store."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
)

SCHEMA_VERSION = 3
metadata = MetaData()

versions = Table("schema_version", metadata, Column("version", Integer, primary_key=True))

runs = Table(
    "runs",
    metadata,
    Column("run_id", String, primary_key=True),
    Column("group_id", String),
    Column("created_at", String, nullable=False, index=True),
    Column("status", String, nullable=False),
    Column("dataset", String, nullable=False),
    Column("target", String),
    Column("owner", String),
    Column("plan", LargeBinary, nullable=False),
    Column("summary", LargeBinary),
    Column("fence", Integer, nullable=False, server_default="1"),
    Column("lease_until", Float),
    Column("cancel_requested", Integer, nullable=False, server_default="0"),
)

states = Table(
    "run_states",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), nullable=False),
    Column("step", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("at", String, nullable=False),
    PrimaryKeyConstraint("run_id", "step"),
)

redactions = Table(
    "redactions",
    metadata,
    Column("run_id", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("found", Integer, nullable=False),
    PrimaryKeyConstraint("run_id", "kind"),
    sqlite_with_rowid=False,
)

pruned = Table(
    "pruned",
    metadata,
    Column("run_id", String, nullable=False),
    Column("name", String, nullable=False),
    Column("at", String, nullable=False),
    PrimaryKeyConstraint("run_id", "name"),
    sqlite_with_rowid=False,
)

results = Table(
    "results",
    metadata,
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("prediction", LargeBinary, nullable=False),
    Column("validation", LargeBinary, nullable=False),
    Column("failure", LargeBinary),
    Column("facts", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat"),
    sqlite_with_rowid=False,
)

scores = Table(
    "check_results",
    metadata,
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("check_id", String, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "check_id"),
    sqlite_with_rowid=False,
)

answers = Table(
    "answers",
    metadata,
    Column("run_id", String, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    PrimaryKeyConstraint("key", "run_id"),
    sqlite_with_rowid=False,
)
"""Which result answers a question, so that another record need not ask it."""

attempts = Table(
    "attempts",
    metadata,
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("call", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "call", "attempt"),
    sqlite_with_rowid=False,
)
