"""The tables of the run store."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
)

SCHEMA_VERSION = 18
NO_RECORD = -1
"""The index of what is about no record."""
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
    Column("is_queued", Boolean, nullable=False, server_default="0"),
)
"""A queued run is executed by the next worker that is free; a stop of the worker changes nothing
about that."""

states = Table(
    "run_states",
    metadata,
    Column("run_id", String, ForeignKey("runs.run_id"), nullable=False),
    Column("step", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("at", String, nullable=False),
    PrimaryKeyConstraint("run_id", "step"),
)

events = Table(
    "run_events",
    metadata,
    Column("run_id", String, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("data", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "sequence"),
    sqlite_with_rowid=False,
)
"""States, progress and warnings of runs, for whoever follows them; never changed."""

audit_log = Table(
    "audit_log",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("at", String, nullable=False),
    Column("actor", String, nullable=False),
    Column("request_id", String, nullable=False),
    Column("verb", String, nullable=False),
    Column("subject", String, nullable=False, index=True),
    Column("detail", LargeBinary, nullable=False),
)
"""Who changed what, and in which request; never changed, and kept when runs are pruned."""

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
    Column("record_id", String),
    Column("passed", Boolean),
    Column("score", Float),
    Column("label", String),
    Column("tags", String),
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
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("check_id", String, nullable=False),
    Column("row", LargeBinary, nullable=False),
    Column("passed", Boolean),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "check_id"),
    sqlite_with_rowid=False,
)

answers = Table(
    "answers",
    metadata,
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
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
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat"),
    sqlite_with_rowid=False,
)
"""Answers of targets that judges have not finished with; a result takes the place of each."""

judgements = Table(
    "judgements",
    metadata,
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("call", String, nullable=False),
    Column("judge", String, nullable=False),
    Column("target", String, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("cache_key", LargeBinary, index=True),
    Column("row", LargeBinary, nullable=False),
    Column("prompt", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "call"),
    sqlite_with_rowid=False,
)
"""What came of each call to a judge, with its prompt in deflated JSON; -1 is about no record."""

parts = Table(
    "request_parts",
    metadata,
    Column("run_id", String, nullable=False),
    Column("sha256", String, nullable=False),
    Column("text", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "sha256"),
    sqlite_with_rowid=False,
)
"""Long texts, as JSON, that what several records of a run are asked has in common."""

annotation_revisions = Table(
    "annotations",
    metadata,
    Column("rubric", String, nullable=False),
    Column("run_id", String, nullable=False),
    Column("record_id", String, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("annotator", String, nullable=False),
    Column("queue_id", String, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("at", String, nullable=False),
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
    Column("run_id", String, nullable=False),
    Column("idx", Integer, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("call", String, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "idx", "repeat", "call", "attempt"),
    sqlite_with_rowid=False,
)

claims = Table(
    "claims",
    metadata,
    Column("run_id", String, nullable=False),
    Column("holder", String, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("run_id", "holder"),
    sqlite_with_rowid=False,
)
"""The calls that may be under way, by whoever makes them; a list that the next one replaces."""

saved_settings = Table(
    "saved_settings",
    metadata,
    Column("kind", String, nullable=False),
    Column("name", String, nullable=False),
    Column("saved_at", String, nullable=False),
    Column("row", LargeBinary, nullable=False),
    PrimaryKeyConstraint("kind", "name"),
    sqlite_with_rowid=False,
)
"""Suites and targets beside those of the project file, in its form."""

holds = Table(
    "holds",
    metadata,
    Column("run_id", String, nullable=False),
    Column("fence", Integer, nullable=False),
    Column("began_at", String, nullable=False),
    Column("ended_at", String),
    PrimaryKeyConstraint("run_id", "fence"),
    sqlite_with_rowid=False,
)
"""When processes have worked on a run; one that was killed could not say when it ended."""

users = Table(
    "users",
    metadata,
    Column("name", String, primary_key=True),
    Column("role", String, nullable=False),
    Column("password", String),
    Column("issuer", String),
    Column("subject", String),
    Column("created_at", String, nullable=False),
    Index("ix_users_linked", "issuer", "subject", unique=True),
)
"""Who may log in: with a password, of which an argon2id hash is kept, or through an issuer of
OpenID Connect that knows them as a subject."""

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("role", String, nullable=False),
    Column("scopes", String),
    Column("sha256", String, nullable=False, unique=True),
    Column("created_at", String, nullable=False),
    Column("created_by", String, nullable=False),
    Column("expires_at", String),
    Column("revoked_at", String),
    Column("last_used_at", String),
)
"""Keys of programs, by the hash of the secret; without scopes a key has those of its role."""

sessions = Table(
    "sessions",
    metadata,
    Column("sha256", String, primary_key=True),
    Column("user", String, nullable=False, index=True),
    Column("form_token", String, nullable=False),
    Column("began", Float, nullable=False),
    Column("last_seen", Float, nullable=False),
)
"""Logins of browsers, by the hash of the cookie; the times are seconds since 1970."""

login_failures = Table(
    "login_failures",
    metadata,
    Column("sequence", Integer, primary_key=True),
    Column("subject", String, nullable=False, index=True),
    Column("at", Float, nullable=False),
)
"""Failed logins by the hash of an account or an address, which slow down the next ones."""

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("actor", String, nullable=False),
    Column("route", String, nullable=False),
    Column("key", String, nullable=False),
    Column("request_sha256", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("owner", String, nullable=False),
    Column("status", Integer),
    Column("body", LargeBinary),
    PrimaryKeyConstraint("actor", "route", "key"),
    sqlite_with_rowid=False,
)
"""Answers to requests that may be sent again; without a status the first is being served, and the
body is the id of the run that it makes."""

saved_definitions = Table(
    "saved_definitions",
    metadata,
    Column("kind", String, nullable=False),
    Column("id", String, nullable=False),
    Column("version", String, nullable=False),
    Column("contract", String, nullable=False),
    Column("extension", String, nullable=False),
    Column("sha256", String, nullable=False),
    Column("size", Integer, nullable=False),
    Column("saved_at", String, nullable=False),
    Column("archived_at", String),
    Column("content", LargeBinary, nullable=False),
    PrimaryKeyConstraint("kind", "id", "version"),
)
"""Datasets, rubrics and judges that were created over HTTP, as they were sent; an empty version
where a contract has none."""
