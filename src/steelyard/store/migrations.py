"""From an older store to this version's, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    LargeBinary,
    PrimaryKeyConstraint,
    select,
    update,
)

from steelyard.errors import UnavailableError
from steelyard.store import review_migration
from steelyard.store.column_types import Text, Whole
from steelyard.store.dialects import database_seconds
from steelyard.store.owners import is_alive
from steelyard.store.queue_label_migration import keep_labels_by_queue
from steelyard.store.tables import SCHEMA_VERSION, runs, versions

if TYPE_CHECKING:
    from alembic.operations import Operations


_WITH_LEASES = 2
"""The first version whose runs have leases."""


def migrate(connection: Connection, found: int) -> bool:
    """Bring a store up to date within one transaction; False where another process was faster.

    Alembic is imported here alone: a store that is up to date never pays for it.
    """
    from alembic.migration import MigrationContext  # noqa: PLC0415
    from alembic.operations import Operations  # noqa: PLC0415

    _require_idle(connection, found)
    # The version first: it takes the lock under which the steps are made.
    taken = update(versions).where(versions.c.version == found).values(version=SCHEMA_VERSION)
    if connection.execute(taken).rowcount != 1:
        return False
    operations = Operations(MigrationContext.configure(connection))
    for version in range(found, SCHEMA_VERSION):
        STEPS[version](operations)
    return True


def _require_idle(connection: Connection, found: int) -> None:
    """Refuse while a process of an earlier version writes: its rows would lack the new columns."""
    if found < _WITH_LEASES:
        return
    query = select(runs.c.run_id, runs.c.owner).where(
        runs.c.owner.is_not(None), runs.c.lease_until > database_seconds()
    )
    for run_id, owner in connection.execute(query):
        if is_alive(owner):
            raise UnavailableError(
                f"{run_id} is being executed by an earlier version of Steelyard; the store is "
                "migrated when that has ended, or was stopped with Ctrl-C"
            )


def _add_leases_and_answers(operations: Operations) -> None:
    # Written out, because the tables of a later version may say something else.
    for column in (
        Column("fence", Whole, nullable=False, server_default="1"),
        Column("lease_until", Float),
        Column("cancel_requested", Whole, nullable=False, server_default="0"),
    ):
        operations.add_column("runs", column)
    operations.create_table(
        "answers",
        Column("run_id", Text, nullable=False),
        Column("key", LargeBinary, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        PrimaryKeyConstraint("key", "run_id"),
        sqlite_with_rowid=False,
    )


def _count_by_kind(operations: Operations) -> None:
    operations.create_table(
        "redactions",
        Column("run_id", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("found", Whole, nullable=False),
        PrimaryKeyConstraint("run_id", "kind"),
        sqlite_with_rowid=False,
    )
    operations.create_table(
        "pruned",
        Column("run_id", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("at", Text, nullable=False),
        PrimaryKeyConstraint("run_id", "name"),
        sqlite_with_rowid=False,
    )
    operations.execute(
        "INSERT INTO redactions SELECT run_id, 'secrets', redacted FROM runs WHERE redacted > 0"
    )
    operations.drop_column("runs", "redacted")


def _add_judgements(operations: Operations) -> None:
    operations.create_table(
        "answered",
        Column("run_id", Text, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("row", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "idx", "repeat"),
        sqlite_with_rowid=False,
    )
    operations.create_table(
        "judgements",
        Column("run_id", Text, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("call", Text, nullable=False),
        Column("judge", Text, nullable=False),
        Column("target", Text, nullable=False),
        Column("fingerprint", Text, nullable=False),
        Column("cache_key", LargeBinary),
        Column("row", LargeBinary, nullable=False),
        Column("prompt", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "idx", "repeat", "call"),
        sqlite_with_rowid=False,
    )
    operations.create_index("ix_judgements_cache_key", "judgements", ["cache_key"])


def _keep_answers_in_order(operations: Operations) -> None:
    operations.rename_table("answers", "answers_by_key")
    operations.create_table(
        "answers",
        Column("run_id", Text, nullable=False),
        Column("idx", Whole, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("key", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "idx", "repeat"),
        sqlite_with_rowid=False,
    )
    operations.execute("INSERT INTO answers SELECT run_id, idx, repeat, key FROM answers_by_key")
    operations.drop_table("answers_by_key")


def _add_annotations(operations: Operations) -> None:
    operations.create_table(
        "annotations",
        Column("rubric", Text, nullable=False),
        Column("run_id", Text, nullable=False),
        Column("record_id", Text, nullable=False),
        Column("repeat", Whole, nullable=False),
        Column("annotator", Text, nullable=False),
        Column("revision", Whole, nullable=False),
        Column("at", Text, nullable=False),
        Column("row", LargeBinary, nullable=False),
        PrimaryKeyConstraint("rubric", "run_id", "record_id", "repeat", "annotator", "revision"),
        sqlite_with_rowid=False,
    )


def _add_request_parts(operations: Operations) -> None:
    operations.create_table(
        "request_parts",
        Column("run_id", Text, nullable=False),
        Column("sha256", Text, nullable=False),
        Column("text", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "sha256"),
        sqlite_with_rowid=False,
    )


def _add_claims(operations: Operations) -> None:
    operations.create_table(
        "claims",
        Column("run_id", Text, nullable=False),
        Column("holder", Text, nullable=False),
        Column("row", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "holder"),
        sqlite_with_rowid=False,
    )
    operations.create_table(
        "holds",
        Column("run_id", Text, nullable=False),
        Column("fence", Whole, nullable=False),
        Column("began_at", Text, nullable=False),
        Column("ended_at", Text),
        PrimaryKeyConstraint("run_id", "fence"),
        sqlite_with_rowid=False,
    )


def _add_listed_columns(operations: Operations) -> None:
    for column in (
        Column("record_id", Text),
        Column("passed", Boolean),
        Column("score", Float),
        Column("label", Text),
        Column("tags", Text),
    ):
        operations.add_column("results", column)
    operations.add_column("check_results", Column("passed", Boolean))
    # As text: some versions of SQLite take bytes for their own binary form of JSON.
    operations.execute(
        """
        UPDATE results SET
            record_id = json_extract(CAST(prediction AS TEXT), '$.record_id'),
            passed = json_extract(CAST(prediction AS TEXT), '$.passed'),
            score = json_extract(CAST(prediction AS TEXT), '$.score'),
            label = json_extract(CAST(failure AS TEXT), '$.label'),
            tags = (
                SELECT char(31) || group_concat(value, char(31)) || char(31)
                FROM json_each(CAST(prediction AS TEXT), '$.slices.tags')
            )
        """
    )
    operations.execute(
        "UPDATE check_results SET passed = json_extract(CAST(row AS TEXT), '$.passed')"
    )
    listed = ["record_id", "status", "passed", "score", "label", "tags"]
    operations.create_index("ix_results_listed", "results", ["run_id", "idx", "repeat", *listed])


def _add_events(operations: Operations) -> None:
    operations.create_table(
        "run_events",
        Column("run_id", Text, nullable=False),
        Column("sequence", Whole, nullable=False),
        Column("at", Text, nullable=False),
        Column("kind", Text, nullable=False),
        Column("data", LargeBinary, nullable=False),
        PrimaryKeyConstraint("run_id", "sequence"),
        sqlite_with_rowid=False,
    )
    operations.execute(
        "INSERT INTO run_events SELECT run_id, step + 1, at, 'state', "
        "CAST(json_object('state', state) AS BLOB) FROM run_states"
    )


def _add_saved_settings(operations: Operations) -> None:
    operations.create_table(
        "saved_settings",
        Column("kind", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("saved_at", Text, nullable=False),
        Column("row", LargeBinary, nullable=False),
        PrimaryKeyConstraint("kind", "name"),
        sqlite_with_rowid=False,
    )


def _add_audit_log(operations: Operations) -> None:
    operations.create_table(
        "audit_log",
        Column("sequence", Whole, primary_key=True),
        Column("at", Text, nullable=False),
        Column("actor", Text, nullable=False),
        Column("request_id", Text, nullable=False),
        Column("verb", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("detail", LargeBinary, nullable=False),
    )
    operations.create_index("ix_audit_log_subject", "audit_log", ["subject"])


def _add_service(operations: Operations) -> None:
    operations.add_column("runs", Column("is_queued", Boolean, nullable=False, server_default="0"))
    operations.execute("UPDATE runs SET is_queued = TRUE WHERE status = 'queued' AND fence = 0")
    operations.create_table(
        "users",
        Column("name", Text, primary_key=True),
        Column("role", Text, nullable=False),
        Column("password", Text),
        Column("issuer", Text),
        Column("subject", Text),
        Column("created_at", Text, nullable=False),
    )
    operations.create_index("ix_users_linked", "users", ["issuer", "subject"], unique=True)
    operations.create_table(
        "api_keys",
        Column("key_id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("role", Text, nullable=False),
        Column("scopes", Text),
        Column("sha256", Text, nullable=False, unique=True),
        Column("created_at", Text, nullable=False),
        Column("created_by", Text, nullable=False),
        Column("expires_at", Text),
        Column("revoked_at", Text),
        Column("last_used_at", Text),
    )
    operations.create_table(
        "sessions",
        Column("sha256", Text, primary_key=True),
        Column("user", Text, nullable=False),
        Column("form_token", Text, nullable=False),
        Column("began", Float, nullable=False),
        Column("last_seen", Float, nullable=False),
    )
    operations.create_index("ix_sessions_user", "sessions", ["user"])
    operations.create_table(
        "login_failures",
        Column("sequence", Whole, primary_key=True),
        Column("subject", Text, nullable=False),
        Column("at", Float, nullable=False),
    )
    operations.create_index("ix_login_failures_subject", "login_failures", ["subject"])
    operations.create_table(
        "idempotency_keys",
        Column("actor", Text, nullable=False),
        Column("route", Text, nullable=False),
        Column("key", Text, nullable=False),
        Column("request_sha256", Text, nullable=False),
        Column("at", Float, nullable=False),
        Column("owner", Text, nullable=False),
        Column("status", Whole),
        Column("body", LargeBinary),
        PrimaryKeyConstraint("actor", "route", "key"),
        sqlite_with_rowid=False,
    )
    operations.create_table(
        "saved_definitions",
        Column("kind", Text, nullable=False),
        Column("id", Text, nullable=False),
        Column("version", Text, nullable=False),
        Column("contract", Text, nullable=False),
        Column("extension", Text, nullable=False),
        Column("sha256", Text, nullable=False),
        Column("size", Whole, nullable=False),
        Column("saved_at", Text, nullable=False),
        Column("archived_at", Text),
        Column("content", LargeBinary, nullable=False),
        PrimaryKeyConstraint("kind", "id", "version"),
    )


def _add_trace_sets(operations: Operations) -> None:
    operations.create_table(
        "trace_sets",
        Column("name", Text, primary_key=True),
        Column("created_at", Text, nullable=False),
    )
    operations.create_table(
        "traces",
        Column("number", Whole, primary_key=True),
        Column("trace_set", Text, nullable=False),
        Column("trace_id", Text, nullable=False),
        Column("received_at", Text, nullable=False),
        Column("spans", Whole, nullable=False),
        Column("bytes", BigInteger, nullable=False),
    )
    operations.create_index("ix_traces_trace_id", "traces", ["trace_id", "trace_set"], unique=True)
    operations.create_index("ix_traces_trace_set", "traces", ["trace_set", "number"])
    operations.create_table(
        "trace_spans",
        Column("trace", Whole, nullable=False),
        Column("span_id", Text, nullable=False),
        Column("parent_id", Text, nullable=False),
        Column("start_ns", BigInteger, nullable=False),
        Column("end_ns", BigInteger, nullable=False),
        Column("row", LargeBinary, nullable=False),
        PrimaryKeyConstraint("trace", "span_id"),
        sqlite_with_rowid=False,
    )


STEPS: dict[int, Callable[[Operations], None]] = {
    1: _add_leases_and_answers,
    2: _count_by_kind,
    3: _add_judgements,
    4: _keep_answers_in_order,
    5: _add_annotations,
    6: _add_request_parts,
    7: _add_claims,
    8: _add_listed_columns,
    9: _add_events,
    10: _add_audit_log,
    11: _add_saved_settings,
    12: _add_service,
    13: _add_trace_sets,
    14: review_migration.add_review_queues,
    15: keep_labels_by_queue,
    16: review_migration.allow_picked_items,
    17: review_migration.mark_tie_breaks,
}
"""What is done to a store of a version to make it one of the next."""
