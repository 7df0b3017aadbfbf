"""Create, list and revoke API keys, and find out whose key a request has."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from steelyard.errors import InvalidError, NotFoundError, UnauthorizedError
from steelyard.model.access import ROLE_SCOPES, SCOPES, ApiKey, Identity, Role, Scope
from steelyard.model.audit import Caller
from steelyard.model.names import require_name
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.users import required_role

PREFIX = "steelyard_"
"""How every key begins, so that people and scanners recognise one."""
MAX_DAYS = 3650
_TOUCH_S = 60


class KeyRequest(NamedTuple):
    """A key to create."""

    name: str
    role: str
    scopes: Sequence[str] | None = None
    """None for everything that the role may do."""
    expires_in_days: int | None = None


class CreatedKey(NamedTuple):
    """A new key; nobody can read its secret again."""

    key: ApiKey
    secret: str


def create_key(
    ports: AccessPorts, request: KeyRequest, *, caller: Caller | None = None
) -> CreatedKey:
    """Create a key for a program; only a hash of the secret is stored."""
    require_name("the name of a key", request.name)
    role = required_role(request.role)
    scopes = None if request.scopes is None else _required_scopes(request.scopes, role)
    ports = ports.called_by(caller)
    secret, at = PREFIX + ports.new_secret(), ports.clock.now()
    key = ApiKey(
        key_id=f"key_{sha256_of(secret)[:16]}",
        name=request.name,
        role=role,
        scopes=scopes,
        created_at=_stamp(at),
        created_by=ports.caller.actor,
        expires_at=_expiry(at, request.expires_in_days),
    )
    entry = ports.entry(
        "create_key",
        key.key_id,
        name=key.name,
        role=role,
        scopes=None if scopes is None else list(scopes),
        expires_at=key.expires_at,
    )
    ports.keys.add(key, sha256_of(secret), entry)
    return CreatedKey(key, secret)


def list_keys(ports: AccessPorts) -> Sequence[ApiKey]:
    """Every key without its secret, newest first; revoked and expired ones too."""
    return ports.keys.all()


def revoke_key(ports: AccessPorts, name: str, *, caller: Caller | None = None) -> ApiKey:
    """Revoke the key with an id, or with a name that one valid key has; at once and for good."""
    known, at = ports.keys.all(), ports.clock.stamp()
    found = [key for key in known if key.key_id == name]
    found = found or [key for key in known if key.name == name and key.is_valid(at)]
    if not found:
        raise NotFoundError(f"there is no key '{name}'")
    if len(found) > 1:
        ids = ", ".join(key.key_id for key in found)
        raise InvalidError(f"several keys are called '{name}'; revoke one by its id: {ids}")
    key = found[0]
    ports.keys.revoke(key.key_id, ports.called_by(caller).entry("revoke_key", key.key_id))
    return key


def authenticate_key(ports: AccessPorts, secret: str) -> Identity:
    """Whoever has this key; notes when it was used, at most once a minute."""
    now = ports.clock.now()
    at = _stamp(now)
    key = ports.keys.find(sha256_of(secret))
    if key is None or not key.is_valid(at):
        # One message for all: a revoked key is no more than an unknown one.
        raise UnauthorizedError("the key is unknown, expired or revoked")
    if key.last_used_at is None or key.last_used_at < _stamp(now - timedelta(seconds=_TOUCH_S)):
        ports.keys.touch(key.key_id, at)
    return Identity(
        actor=f"key:{key.name}:{key.key_id}",
        role=key.role,
        scopes=key.allowed,
        credential="key",
        key_id=key.key_id,
    )


def sha256_of(secret: str) -> str:
    """How a secret of 256 random bits is stored; a slow hash would add nothing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _required_scopes(scopes: Sequence[str], role: Role) -> tuple[Scope, ...]:
    """The scopes in their order; one that the role does not have is an error."""
    for scope in scopes:
        if scope not in SCOPES:
            raise InvalidError(f"there is no scope '{scope}'; the scopes are {', '.join(SCOPES)}")
    if not scopes:
        raise InvalidError("name at least one scope, or none at all for those of the role")
    allowed = [scope for scope in SCOPES if scope in ROLE_SCOPES[role]]
    beyond = [scope for scope in SCOPES if scope in scopes and scope not in allowed]
    if beyond:
        raise InvalidError(
            f"the role {role} does not have {', '.join(beyond)}; its scopes are "
            f"{', '.join(allowed)}"
        )
    return tuple(scope for scope in SCOPES if scope in scopes)


def _expiry(at: datetime, days: int | None) -> str | None:
    if days is None:
        return None
    if not 1 <= days <= MAX_DAYS:
        raise InvalidError(f"a key expires after 1 to {MAX_DAYS:,} days, not {days}")
    return _stamp(at + timedelta(days=days))


def _stamp(at: datetime) -> str:
    """A time as the clock writes it down, so that texts compare as times do."""
    return at.isoformat(timespec="milliseconds")
