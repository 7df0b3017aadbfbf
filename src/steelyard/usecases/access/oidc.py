"""Log in users of an OpenID Connect issuer; they are linked by issuer and subject."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Protocol

from steelyard.errors import ForbiddenError, InvalidError, UnauthorizedError
from steelyard.model.access import ROLES, Role, User
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.names import is_user_name
from steelyard.ports import valid_caller
from steelyard.settings import OidcSettings
from steelyard.usecases.access.keys import sha256_of
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.sessions import Login, begin_session
from steelyard.usecases.access.users import spelled

_NAME_CLAIMS = ("preferred_username", "email")
_MAX_SUBJECT = 255


class PendingLogin(NamedTuple):
    """What a browser keeps while its user is at the issuer: random texts, new for each login."""

    state: str
    nonce: str
    verifier: str


class Issuer(Protocol):
    """An OpenID Connect issuer."""

    def authorization_url(self, redirect_uri: str, pending: PendingLogin) -> str:
        """Where a browser goes to log in."""
        ...

    def claims(self, code: str, redirect_uri: str, pending: PendingLogin) -> JsonObject:
        """The verified claims of the ID token that a code is exchanged for."""
        ...


class Callback(NamedTuple):
    """What a browser brings back from the issuer."""

    state: str | None
    code: str | None
    error: str | None
    issuer: str | None
    """Who says so, where the issuer names itself."""
    redirect_uri: str


def start_oidc_login(
    ports: AccessPorts, issuer: Issuer, redirect_uri: str
) -> tuple[str, PendingLogin]:
    """Where to send a browser, and what it must keep until it comes back."""
    pending = PendingLogin(ports.new_secret(), ports.new_secret(), ports.new_secret())
    return issuer.authorization_url(redirect_uri, pending), pending


def finish_oidc_login(
    ports: AccessPorts,
    issuer: Issuer,
    settings: OidcSettings,
    arrived: tuple[Callback, PendingLogin | None],
    *,
    caller: Caller | None = None,
) -> Login:
    """Begin a session of the user whom the issuer vouches for, with the role of their claim."""
    callback, pending = arrived
    _require_own(settings, callback, pending)
    if callback.code is None or pending is None:
        raise UnauthorizedError(f"the issuer did not log anybody in: {callback.error!a}")
    claims = issuer.claims(callback.code, callback.redirect_uri, pending)
    return log_in_linked(ports, settings, claims, caller=caller)


def log_in_linked(
    ports: AccessPorts, settings: OidcSettings, claims: JsonObject, *, caller: Caller | None = None
) -> Login:
    """Begin a session of the user with these claims, who is added at the first login."""
    issuer, subject = settings.issuer or "", claims.get("sub")
    if not isinstance(subject, str) or not 1 <= len(subject) <= _MAX_SUBJECT:
        raise UnauthorizedError("the issuer names no subject")
    known, role = ports.users.linked(issuer, subject), role_of(settings, claims)
    name = known.name if known else _free_name(ports, issuer, subject, claims)
    ports = ports.called_by(replace(valid_caller(caller), actor=name))
    if role is None:
        if known:
            ports.users.remove(name, ports.entry("remove_user", name, reason="no role"))
        raise ForbiddenError(f"the claim '{settings.role_claim}' of {name} gives no role here")
    user = User(
        name=name,
        role=role,
        created_at=known.created_at if known else ports.clock.stamp(),
        has_password=False,
        issuer=issuer,
        subject=subject,
    )
    if known is None:
        entry = ports.entry("add_user", name, role=role, issuer=issuer)
        if not ports.users.add(user, None, entry):
            raise UnauthorizedError("somebody else was added under that name; log in again")
    elif known.role != role:
        change = ports.users.set_role(name, role, ports.entry("set_role", name, role=role))
        if change != "changed":
            raise ForbiddenError(f"{name} is the only admin, whom the issuer gives another role")
    return begin_session(ports, user, ports.users.password_hash(name), caller=ports.caller)


def role_of(settings: OidcSettings, claims: JsonObject) -> Role | None:
    """The most powerful role that the values of the claim stand for; None where none does."""
    found = {settings.roles.get(value) for value in _texts(_claim(claims, settings.role_claim))}
    return next((role for role in reversed(ROLES) if role in found), None)


def _require_own(settings: OidcSettings, callback: Callback, pending: PendingLogin | None) -> None:
    """Refuse an answer to a login that this browser has not begun."""
    state = (callback.state or "").encode("utf-8", "surrogatepass")
    if pending is None or not hmac.compare_digest(state, pending.state.encode()):
        raise InvalidError("this browser has begun no such login, or too long ago; begin again")
    if callback.issuer not in {None, settings.issuer}:
        raise UnauthorizedError(f"the answer is of another issuer: {callback.issuer!a}")


def _claim(claims: JsonObject, path: str | None) -> JsonValue:
    """A claim by its name, which may have dots itself, or by the way into objects."""
    if path is None or path in claims:
        return claims.get(path or "")
    value: JsonValue = claims
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _texts(value: JsonValue) -> Iterator[str]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str):
            yield one


def _free_name(ports: AccessPorts, issuer: str, subject: str, claims: JsonObject) -> str:
    """A name that nobody has: what the issuer calls the user, else a hash of the subject."""
    for claim in _NAME_CLAIMS:
        name = claims.get(claim)
        if (
            isinstance(name, str)
            and is_user_name(spelled(name))
            and not ports.users.find(spelled(name))
        ):
            return spelled(name)
    return f"oidc-{sha256_of(f'{issuer} {subject}')[:16]}"
