"""Log users in and out, and find out whose session a request has."""

from __future__ import annotations

import hmac
from dataclasses import replace
from typing import NamedTuple

from steelyard.errors import ForbiddenError, TooManyRequestsError, UnauthorizedError
from steelyard.model.access import ROLE_SCOPES, Identity, User
from steelyard.model.audit import Caller
from steelyard.model.names import is_user_name
from steelyard.model.sessions import FoundSession, LoginSubject, SessionRow
from steelyard.ports import valid_caller
from steelyard.usecases.access.form_tokens import unmasked_token
from steelyard.usecases.access.keys import sha256_of
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.users import (
    MAX_PASSWORD,
    required_password,
    spelled,
)

IDLE_S = 12 * 3600
"""A session ends when it was not used for so long."""
LIFETIME_S = 7 * 24 * 3600
"""A session ends so long after the login, used or not."""
FAILURES_S = 300
"""How long a failed login counts."""
ACCOUNT_FAILURES, ADDRESS_FAILURES = 5, 20
_TOUCH_S = 60


class Login(NamedTuple):
    """A session that has begun; nobody can read its id again."""

    user: User
    session_id: str
    form_token: str


class Credentials(NamedTuple):
    """What a person types to log in, and the address it comes from."""

    name: str
    password: str
    address: str


def log_in(ports: AccessPorts, credentials: Credentials, *, caller: Caller | None = None) -> Login:
    """Begin a session of a user who knows the password."""
    user, known = _proven(ports, credentials)
    return begin_session(ports, user, known, caller=caller)


def change_own_password(
    ports: AccessPorts, credentials: Credentials, password: str, *, caller: Caller | None = None
) -> None:
    """Replace the password of a user who knows the old one, and end the user's sessions."""
    required_password(password)
    user, known = _proven(ports, credentials)
    hashed = ports.passwords.hash(required_password(password))
    entry = ports.called_by(caller).entry("set_password", user.name)
    if ports.users.set_password(user.name, hashed, entry, known) != "changed":
        raise _wrong()


def begin_session(
    ports: AccessPorts, user: User, password_hash: str | None, *, caller: Caller | None = None
) -> Login:
    """A session of a user who has proven who they are."""
    login = Login(user, ports.new_secret(), ports.new_secret())
    at = ports.clock.now().timestamp()
    ports = ports.called_by(replace(valid_caller(caller), actor=user.name))
    row = SessionRow(sha256_of(login.session_id), user, login.form_token, at)
    if not ports.sessions.begin(row, password_hash, ports.entry("log_in", user.name)):
        raise UnauthorizedError("the password or the role has just been changed; log in again")
    return login


def log_out(ports: AccessPorts, session_id: str, *, caller: Caller | None = None) -> None:
    """End a session."""
    sha256 = sha256_of(session_id)
    found = ports.sessions.find(sha256)
    if found is None:
        return
    ports = ports.called_by(replace(valid_caller(caller), actor=found.user.name))
    ports.sessions.end(sha256, ports.entry("log_out", found.user.name))


def authenticate_session(ports: AccessPorts, session_id: str) -> Identity:
    """Whose session this is; notes when it was used, at most once a minute."""
    sha256, now = sha256_of(session_id), ports.clock.now().timestamp()
    found = ports.sessions.find(sha256)
    if found is None or _has_ended(found, now):
        raise UnauthorizedError("the session has ended; log in again")
    if now - found.last_seen >= _TOUCH_S:
        ports.sessions.touch(sha256, now)
    return Identity(
        actor=found.user.name,
        role=found.user.role,
        scopes=ROLE_SCOPES[found.user.role],
        credential="session",
        form_token=found.form_token,
    )


def require_form_token(identity: Identity, given: str | None) -> None:
    """Refuse a change that a page of another site may have sent with the user's cookie."""
    expected = (identity.form_token or "").encode()
    shown = unmasked_token(given or "").encode("utf-8", "surrogatepass")
    if not hmac.compare_digest(expected, shown):
        raise ForbiddenError(
            "a request with a cookie that changes something needs the header x-form-token; "
            "GET /v1/me has its value"
        )


def _proven(ports: AccessPorts, credentials: Credentials) -> tuple[User, str | None]:
    """The user who knows the password, and its hash.

    After too many failures of an account or an address nobody is asked for a while.
    """
    now, name = ports.clock.now().timestamp(), spelled(credentials.name)
    subjects = (
        # Hashed: people type passwords into the field of the name.
        LoginSubject(sha256_of(f"account {name}"), ACCOUNT_FAILURES),
        LoginSubject(sha256_of(f"address {credentials.address}"), ADDRESS_FAILURES),
    )
    oldest = ports.sessions.reserve(subjects, now, now - FAILURES_S)
    if oldest is not None:
        raise TooManyRequestsError(
            "too many failed logins; try again later",
            retry_after_s=max(1.0, oldest + FAILURES_S - now),
            limit=ACCOUNT_FAILURES,
        )
    user = ports.users.find(name) if is_user_name(name) else None
    known = ports.users.password_hash(name) if user else None
    given = spelled(credentials.password[:MAX_PASSWORD])
    if not ports.passwords.matches(known, given) or user is None:
        raise _wrong()
    ports.sessions.forgive(subjects, now)
    return user, known


def _wrong() -> UnauthorizedError:
    return UnauthorizedError("the name or the password is wrong")


def _has_ended(found: FoundSession, now: float) -> bool:
    return now - found.last_seen > IDLE_S or now - found.began > LIFETIME_S
