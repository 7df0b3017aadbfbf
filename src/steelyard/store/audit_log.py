"""The audit log in the database: rows that are only added to."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from sqlalchemy import Connection, Engine, Select, insert, select

from steelyard.formats.encoding import without_surrogates
from steelyard.model.audit import AuditEntry, Caller
from steelyard.results.audit import EVERY_CHANGE, AuditPosition, AuditQuery
from steelyard.store.database import streamed, translated_errors
from steelyard.store.dialects import write_alone
from steelyard.store.tables import audit_log


def add_entry(connection: Connection, entry: AuditEntry) -> None:
    """One more change, within the transaction that makes it."""
    row = {
        "at": entry.at,
        **asdict(entry.caller),
        "verb": entry.verb,
        "subject": without_surrogates(entry.subject),
        "detail": json.dumps(entry.detail).encode("ascii"),
    }
    # In PostgreSQL numbers would else appear out of order, and who has seen one would miss others.
    if connection.dialect.name == "postgresql":
        write_alone(connection, audit_log.name)
    connection.execute(insert(audit_log), row)


def last_caller(connection: Connection, verb: str, subject: str) -> Caller | None:
    """Who was the last to do something to a subject; None where nobody is known."""
    query = _newest_first(AuditQuery(verb=verb, subject=subject), None).limit(1)
    row = connection.execute(query).first()
    return None if row is None else Caller(row.actor, row.request_id)


class AuditStore:
    """The audit log of a project, whose database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def add(self, entry: AuditEntry) -> None:
        """Keep a change that was made outside of the database."""
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            add_entry(connection, entry)

    def list(
        self, limit: int, query: AuditQuery = EVERY_CHANGE, after: AuditPosition | None = None
    ) -> list[AuditEntry]:
        """The changes that a query finds after a position, newest first."""
        return [
            AuditEntry(
                at=row.at,
                caller=Caller(row.actor, row.request_id),
                verb=row.verb,
                subject=row.subject,
                detail=json.loads(row.detail),
                sequence=row.sequence,
            )
            for row in streamed(self._engine(), _newest_first(query, after).limit(limit))
        ]


def _newest_first(query: AuditQuery, after: AuditPosition | None) -> Select[*tuple[object, ...]]:
    wanted = (
        audit_log.c[name] == value for name, value in asdict(query).items() if value is not None
    )
    found = select(audit_log).where(*wanted).order_by(audit_log.c.sequence.desc())
    return found.where(audit_log.c.sequence < after.sequence) if after else found
