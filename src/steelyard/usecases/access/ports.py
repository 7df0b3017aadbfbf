"""What access control needs: users, keys, sessions, passwords and random secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from steelyard.model.access import ApiKey, Role, User
from steelyard.model.audit import AuditEntry
from steelyard.model.sessions import FoundSession, LoginSubject, SessionRow, UserChange
from steelyard.ports import CallerPorts


class Users(Protocol):
    """The users of a project; a change of a password or a role ends the user's sessions."""

    def all(self) -> Sequence[User]:
        """Every user, by name."""
        ...

    def find(self, name: str) -> User | None:
        """One user; None if there is no such name."""
        ...

    def linked(self, issuer: str, subject: str) -> User | None:
        """The user whom an OpenID Connect issuer knows as this subject."""
        ...

    def password_hash(self, name: str) -> str | None:
        """The hash of a password; None without a password, or without such a user."""
        ...

    def add(self, user: User, password_hash: str | None, entry: AuditEntry) -> bool:
        """Keep a new user and log it; False if the name is taken."""
        ...

    def set_password(
        self, name: str, password_hash: str, entry: AuditEntry, replaces: str | None = None
    ) -> UserChange:
        """Replace a password, or only one with this hash; end the sessions and log it."""
        ...

    def set_role(self, name: str, role: Role, entry: AuditEntry) -> UserChange:
        """Replace a role, end the sessions and log it."""
        ...

    def remove(self, name: str, entry: AuditEntry) -> UserChange:
        """Remove a user with all sessions and log it."""
        ...


class Keys(Protocol):
    """The API keys of a project, by the hash of their secret."""

    def all(self) -> Sequence[ApiKey]:
        """Every key, newest first; revoked ones too."""
        ...

    def find(self, sha256: str) -> ApiKey | None:
        """The key with this hash."""
        ...

    def add(self, key: ApiKey, sha256: str, entry: AuditEntry) -> None:
        """Keep a new key and log it."""
        ...

    def revoke(self, key_id: str, entry: AuditEntry) -> bool:
        """Revoke a key and log it; False if it is revoked already."""
        ...

    def touch(self, key_id: str, at: str) -> None:
        """Note when a key was last used, if that can be written now."""
        ...


class Sessions(Protocol):
    """Sessions of browsers, by the hash of their cookie, and failed logins."""

    def begin(self, row: SessionRow, password_hash: str | None, entry: AuditEntry) -> bool:
        """Keep a session and log it; False if role or password have changed meanwhile."""
        ...

    def find(self, sha256: str) -> FoundSession | None:
        """A session, however old."""
        ...

    def touch(self, sha256: str, at: float) -> None:
        """Note when a session was last used, if that can be written now."""
        ...

    def end(self, sha256: str, entry: AuditEntry) -> None:
        """Remove a session and log it."""
        ...

    def reserve(self, subjects: Sequence[LoginSubject], at: float, since: float) -> float | None:
        """Count a login as failed before it is tried, so that concurrent ones are counted too.

        If a subject has too many failures since a time, nothing is counted; the result is the
        time of its oldest failure.
        """
        ...

    def forgive(self, subjects: Sequence[LoginSubject], at: float) -> None:
        """Take back what was reserved for a login that succeeded, and the account's failures."""
        ...


class Passwords(Protocol):
    """Hashes passwords; slow on purpose."""

    def hash(self, password: str) -> str:
        """The hash to keep."""
        ...

    def matches(self, password_hash: str | None, password: str) -> bool:
        """Whether a password is right; takes as long for an unknown user, who has no hash."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPorts(CallerPorts):
    """What users, keys and sessions need."""

    users: Users
    keys: Keys
    sessions: Sessions
    passwords: Passwords
    new_secret: Callable[[], str]
    """256 random bits as text."""
