"""The tables of the run store."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
)

SCHEMA_VERSION = 1
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
    Column("redacted", Integer, nullable=False),
    Column("summary", LargeBinary),
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
