"""Users in the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, Update, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from steelyard.model.access import Role, User
from steelyard.model.audit import AuditEntry
from steelyard.model.sessions import UserChange
from steelyard.store.audit_log import add_entry
from steelyard.store.database import translated_errors
from steelyard.store.dialects import write_alone
from steelyard.store.tables import sessions, users


class UserStore:
    """Who may log in; the database is opened at its first use."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def all(self) -> list[User]:
        """Every user, by name."""
        engine = self._engine()
        with translated_errors(engine), engine.connect() as connection:
            return [user_of(row) for row in connection.execute(select(users).order_by("name"))]

    def find(self, name: str) -> User | None:
        """One user; None if there is no such name."""
        return self._first(users.c.name == name)

    def linked(self, issuer: str, subject: str) -> User | None:
        """The user whom an issuer knows as this subject."""
        return self._first(users.c.issuer == issuer, users.c.subject == subject)

    def password_hash(self, name: str) -> str | None:
        """The hash of a password; None without a password, or without such a user."""
        engine, query = self._engine(), select(users.c.password).where(users.c.name == name)
        with translated_errors(engine), engine.connect() as connection:
            return connection.execute(query).scalar()

    def add(self, user: User, password_hash: str | None, entry: AuditEntry) -> bool:
        """Keep a new user and log it; False if the name is taken."""
        row = {
            "name": user.name,
            "role": user.role,
            "password": password_hash,
            "issuer": user.issuer,
            "subject": user.subject,
            "created_at": user.created_at,
        }
        engine = self._engine()
        with translated_errors(engine):
            try:
                with engine.begin() as connection:
                    connection.execute(insert(users), row)
                    add_entry(connection, entry)
            except IntegrityError:
                return False
        return True

    def set_password(
        self, name: str, password_hash: str, entry: AuditEntry, replaces: str | None = None
    ) -> UserChange:
        """Replace a password, or only one with this hash; end the sessions and log it."""
        change = update(users).values(password=password_hash)
        if replaces is not None:
            change = change.where(users.c.password == replaces)
        return self._change(name, change, entry)

    def set_role(self, name: str, role: Role, entry: AuditEntry) -> UserChange:
        """Replace a role, end the sessions and log it."""
        return self._change(name, update(users).values(role=role), entry)

    def remove(self, name: str, entry: AuditEntry) -> UserChange:
        """Remove a user with all sessions and log it."""
        return self._change(name, None, entry)

    def _change(self, name: str, change: Update | None, entry: AuditEntry) -> UserChange:
        """Make a change, unless it leaves a project that had an admin without one."""
        engine = self._engine()
        is_named = users.c.name == name
        statement = (delete(users) if change is None else change).where(is_named)
        with translated_errors(engine), engine.connect() as connection:
            write_alone(connection, users.name)
            connection.execute(delete(sessions).where(sessions.c.user == name))
            before = _admins(connection)
            if connection.execute(statement).rowcount == 0:
                connection.rollback()
                return "missing"
            if before and not _admins(connection):
                connection.rollback()
                return "last_admin"
            add_entry(connection, entry)
            connection.commit()
        return "changed"

    def _first(self, *wanted: Any) -> User | None:
        engine = self._engine()
        with translated_errors(engine), engine.connect() as connection:
            row = connection.execute(select(users).where(*wanted)).first()
        return None if row is None else user_of(row)


def user_of(row: Any) -> User:
    """A user as a row has them."""
    return User(
        name=row.name,
        role=row.role,
        created_at=row.created_at,
        has_password=row.password is not None,
        issuer=row.issuer,
        subject=row.subject,
    )


def _admins(connection: Connection) -> int:
    query = select(func.count()).select_from(users).where(users.c.role == "admin")
    return connection.execute(query).scalar_one()
