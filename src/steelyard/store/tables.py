"""The tables of the run store."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
)

from steelyard.store.column_types import Text, Whole

SCHEMA_VERSION = 18
NO_RECORD = -1
"""The index of what is about no record."""
metadata = MetaData()

versions = Table("schema_version", metadata, Column("version", Whole, primary_key=True))

runs = Table(
    "runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("group_id", Text),
    Column("created_at", Text, nullable=False, index=True),
    Column("status", Text, nullable=False),
    Column("dataset", Text, nullable=False),
    Column("target", Text),
    Column("owner", Text),
    Column("plan", LargeBinary, nullable=False),
    Column("summary", LargeBinary),
    Column("fence", Whole, nullable=False, server_default="1"),
    Column("lease_until", Float),
    Column("cancel_requested", Whole, nullable=False, server_default="0"),
    Column("is_queued", Boolean, nullable=False, server_default="0"),
)
"""A queued run is executed by the next worker that is free; a stop of the worker changes nothing
about that."""

states = Table(
    "run_states",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), nullable=False),
    Column("step", Whole, nullable=False),
    Column("state", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "step"),
)

events = Table(
    "run_events",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("sequence", Whole, nullable=False),
    Column("at", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "sequence"),
    sqlite_with_rowid=False,
)
"""States, progress and warnings of runs, for whoever follows them; never changed."""

audit_log = Table(
    "audit_log",
    metadata,
    Column("sequence", Whole, primary_key=True),
    Column("at", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("verb", Text, nullable=False),
    Column("subject", Text, nullable=False, index=True),
    Column("detail", LargeBinary, nullable=False),
)
"""Who changed what, and in which request; never changed, and kept when runs are pruned."""

redactions = Table(
    "redactions",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("found", Whole, nullable=False),
    PrimaryKeyConstraint("run_id", "kind"),
    sqlite_with_rowid=False,
)

pruned = Table(
    "pruned",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "name"),
    sqlite_with_rowid=False,
)

results = Table(
    "results",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("status", Text, nullable=False),
    Column("prediction", LargeBinary, nullable=False),
    Column("validation", LargeBinary, nullable=False),
    Column("failure", LargeBinary),
    Column("facts", LargeBinary, nullable=False),
    Column("record_id", Text),
    Column("passed", Boolean),
    Column("score", Float),
    Column("label", Text),
    Column("tags", Text),
    PrimaryKeyConstraint("run_id", "idx", "repeat"),
    Index(
        "ix_results_listed",
        *("run_id", "idx", "repeat", "record_id", "status", "passed", "score", "label", "tags"),
    ),
    sqlite_with_rowid=False,
)
"""The columns after `facts` repeat what lists filter and sort by.

One index covers all of them in the order of the records: to add to its end costs little, and a
list of many records reads a few bytes of each.
"""

scores = Table(
    "check_results",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("place", Whole, nullable=False),
    Column("check_id", Text, nullable=False),
    Column("row", LargeBinary, nullable=False),
    Column("passed", Boolean),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "check_id"),
    sqlite_with_rowid=False,
)

answers = Table(
    "answers",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("key", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat"),
    sqlite_with_rowid=False,
)
"""Which question a result answers, so that another record need not ask it.

Whoever looks for a question reads all keys once: an index in their order, which is that of no
record, would cost as much as the result itself.
"""

answered = Table(
    "answered",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat"),
    sqlite_with_rowid=False,
)
"""Answers of targets that judges have not finished with; a result takes the place of each."""

judgements = Table(
    "judgements",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("call", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("cache_key", LargeBinary, index=True),
    Column("row", LargeBinary, nullable=False),
    Column("prompt", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "call"),
    sqlite_with_rowid=False,
)
"""What came of each call to a judge, with its prompt as `kept_prompts` has it; -1 is no record."""

parts = Table(
    "request_parts",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("text", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "sha256"),
    sqlite_with_rowid=False,
)
"""Long texts, as JSON, that what several records of a run are asked has in common."""

annotation_revisions = Table(
    "annotations",
    metadata,
    Column("rubric", Text, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("record_id", Text, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("annotator", Text, nullable=False),
    Column("queue_id", Text, nullable=False),
    Column("revision", Whole, nullable=False),
    Column("at", Text, nullable=False),
    Column("row", LargeBinary, nullable=False),
    Column("is_withdrawn", Boolean, nullable=False, server_default="0"),
    PrimaryKeyConstraint(
        *("rubric", "run_id", "record_id", "repeat", "annotator", "queue_id", "revision")
    ),
    sqlite_with_rowid=False,
)
"""What people say, as rows of labels; the highest revision counts, the others are history.

A label that is about no run has an empty `run_id`, and one that was given in no queue an empty
`queue_id`. Where the highest revision is withdrawn, its
person says nothing.
"""

attempts = Table(
    "attempts",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("idx", Whole, nullable=False),
    Column("repeat", Whole, nullable=False),
    Column("call", Text, nullable=False),
    Column("attempt", Whole, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "call", "attempt"),
    sqlite_with_rowid=False,
)

claims = Table(
    "claims",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("holder", Text, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "holder"),
    sqlite_with_rowid=False,
)
"""The calls that may be under way, by whoever makes them; a list that the next one replaces."""

saved_settings = Table(
    "saved_settings",
    metadata,
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("saved_at", Text, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("kind", "name"),
    sqlite_with_rowid=False,
)
"""Suites and targets beside those of the project file, in its form."""

holds = Table(
    "holds",
    metadata,
    Column("run_id", Text, nullable=False),
    Column("fence", Whole, nullable=False),
    Column("began_at", Text, nullable=False),
    Column("ended_at", Text),
    PrimaryKeyConstraint("run_id", "fence"),
    sqlite_with_rowid=False,
)
"""When processes have worked on a run; one that was killed could not say when it ended."""

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("role", Text, nullable=False),
    Column("password", Text),
    Column("issuer", Text),
    Column("subject", Text),
    Column("created_at", Text, nullable=False),
    Index("ix_users_linked", "issuer", "subject", unique=True),
)
"""Who may log in: with a password, of which an argon2id hash is kept, or through an issuer of
OpenID Connect that knows them as a subject."""

api_keys = Table(
    "api_keys",
    metadata,
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
"""Keys of programs, by the hash of the secret; without scopes a key has those of its role."""

sessions = Table(
    "sessions",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("user", Text, nullable=False, index=True),
    Column("form_token", Text, nullable=False),
    Column("began", Float, nullable=False),
    Column("last_seen", Float, nullable=False),
)
"""Logins of browsers, by the hash of the cookie; the times are seconds since 1970."""

login_failures = Table(
    "login_failures",
    metadata,
    Column("sequence", Whole, primary_key=True),
    Column("subject", Text, nullable=False, index=True),
    Column("at", Float, nullable=False),
)
"""Failed logins by the hash of an account or an address, which slow down the next ones."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
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
"""Answers to requests that may be sent again; without a status the first is being served, and the
body is the id of the run that it makes."""

saved_definitions = Table(
    "saved_definitions",
    metadata,
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
"""Datasets, rubrics and judges that were created over HTTP, as they were sent; an empty version
where a contract has none."""
