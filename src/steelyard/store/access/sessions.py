"""Sessions and failed logins in the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from sqlalchemy import Engine, delete, func, insert, select, update

from steelyard.errors import UnavailableError
from steelyard.model.audit import AuditEntry
from steelyard.model.sessions import FoundSession, LoginSubject, SessionRow
from steelyard.store.access.users import user_of
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.dialects import write_alone
from steelyard.store.tables import login_failures as failures
from steelyard.store.tables import sessions, users

_KEPT_S = 7 * 24 * 3600
"""No session is valid for longer."""


class SessionStore:
    """Logins of browsers; the database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def begin(self, row: SessionRow, password_hash: str | None, entry: AuditEntry) -> bool:
        """Keep a session and log it; False if role or password have changed meanwhile."""
        values = {
            "sha256": row.sha256,
            "user": row.user.name,
            "form_token": row.form_token,
            "began": row.at,
            "last_seen": row.at,
        }
        same = select(users.c.password).where(
            users.c.name == row.user.name, users.c.role == row.user.role
        )
        engine = self._engine()
        with translated_errors(engine), engine.connect() as connection:
            connection.execute(delete(sessions).where(sessions.c.began < row.at - _KEPT_S))
            connection.execute(insert(sessions), values)
            found = connection.execute(same).first()
            if found is None or found.password != password_hash:
                connection.rollback()
                return False
            add_entry(connection, entry)
            connection.commit()
        return True

    def find(self, sha256: str) -> FoundSession | None:
        """A session, however old."""
        engine = self._engine()
        query = select(sessions, users).join(users, users.c.name == sessions.c.user)
        with translated_errors(engine), engine.connect() as connection:
            row = connection.execute(query.where(sessions.c.sha256 == sha256)).first()
        if row is None:
            return None
        return FoundSession(user_of(row), row.form_token, row.began, row.last_seen)

    def touch(self, sha256: str, at: float) -> None:
        """Note when a session was last used, if that can be written now."""
        engine = self._engine()
        used = update(sessions).where(sessions.c.sha256 == sha256).values(last_seen=at)
        with suppress(UnavailableError), translated_errors(engine), engine.begin() as connection:
            connection.execute(used)

    def end(self, sha256: str, entry: AuditEntry) -> None:
        """Remove a session and log it."""
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            ended = connection.execute(delete(sessions).where(sessions.c.sha256 == sha256))
            if ended.rowcount:
                add_entry(connection, entry)

    def reserve(self, subjects: Sequence[LoginSubject], at: float, since: float) -> float | None:
        """Count a login as failed before it is tried, so that concurrent ones are counted too.

        If a subject has too many failures since a time, nothing is counted; the result is the
        time of its oldest failure.
        """
        engine = self._engine()
        with translated_errors(engine), engine.connect() as connection:
            write_alone(connection, failures.name)
            connection.execute(delete(failures).where(failures.c.at <= since))
            for subject, limit in subjects:
                connection.execute(insert(failures), {"subject": subject, "at": at})
                query = select(func.count(), func.min(failures.c.at))
                count, oldest = connection.execute(
                    query.where(failures.c.subject == subject)
                ).one()
                if count > limit:
                    connection.rollback()
                    return oldest
            connection.commit()
        return None

    def forgive(self, subjects: Sequence[LoginSubject], at: float) -> None:
        """Take back what was reserved for a login that succeeded, and the account's failures."""
        account, *others = (subject for subject, _ in subjects)
        engine = self._engine()
        with translated_errors(engine), engine.begin() as connection:
            connection.execute(delete(failures).where(failures.c.subject == account))
            for subject in others:
                mine = failures.c.subject == subject, failures.c.at == at
                connection.execute(delete(failures).where(*mine))
