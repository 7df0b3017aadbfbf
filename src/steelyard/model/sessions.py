"""Sessions of browsers, and the logins before them; times are seconds since 1970."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from steelyard.model.access import User

UserChange: TypeAlias = Literal["changed", "missing", "last_admin"]
"""What became of a change: an unknown user, and the only admin, are left as they are."""


class SessionRow(NamedTuple):
    """A session to keep, by the hash of its id."""

    sha256: str
    user: User
    form_token: str
    at: float


class FoundSession(NamedTuple):
    """A session with its user as they are now."""

    user: User
    form_token: str
    began: float
    last_seen: float


class LoginSubject(NamedTuple):
    """What a failed login counts against, and how many failures are allowed there."""

    subject: str
    limit: int
