"""Who may do what: roles, scopes, and whoever sends a request."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from steelyard.model.frozen_struct import FrozenStruct

Role: TypeAlias = Literal["viewer", "annotator", "editor", "admin"]
Scope: TypeAlias = Literal[
    "runs:read",
    "runs:write",
    "registry:read",
    "registry:write",
    "review:read",
    "review:write",
    "traces:write",
    "admin",
]
ROLES: tuple[Role, ...] = get_args(Role)
SCOPES: tuple[Scope, ...] = get_args(Scope)
_READS: frozenset[Scope] = frozenset({"runs:read", "registry:read"})
_REVIEWS: frozenset[Scope] = frozenset({"review:read", "review:write"})
_WRITES: frozenset[Scope] = frozenset({"runs:write", "registry:write", "traces:write"})
ROLE_SCOPES: dict[Role, frozenset[Scope]] = {
    "viewer": _READS,
    "annotator": _REVIEWS,
    "editor": _READS | _REVIEWS | _WRITES,
    "admin": frozenset(SCOPES),
}
"""What each role may do; the scopes of a key can only take away from it."""

SCOPE_MEANINGS: dict[Scope, str] = {
    "runs:read": "read runs, records, artifacts and comparisons",
    "runs:write": "start, resume, cancel, retry and regrade runs",
    "registry:read": "read datasets, rubrics, judges and suites",
    "registry:write": "create, publish and archive datasets, rubrics, judges and suites; "
    "create review queues and adjudicate",
    "review:read": "read the items of review queues",
    "review:write": "answer the items of review queues",
    "traces:write": "send traces",
    "admin": "manage targets, users, keys, the audit log and retention",
}

Credential: TypeAlias = Literal["local", "key", "session"]


class User(FrozenStruct, frozen=True, kw_only=True):
    """A person who may log in."""

    name: str
    role: Role
    created_at: str
    has_password: bool = True
    """False for users whom only an OpenID Connect issuer knows."""
    issuer: str | None = None
    subject: str | None = None
    """What the issuer calls them; it never changes, unlike names and addresses."""


class ApiKey(FrozenStruct, frozen=True, kw_only=True):
    """A key of a program, without its secret."""

    key_id: str
    name: str
    role: Role
    scopes: tuple[Scope, ...] | None
    """What it was restricted to; None for everything its role may do."""
    created_at: str
    created_by: str
    expires_at: str | None = None
    revoked_at: str | None = None
    last_used_at: str | None = None

    @property
    def allowed(self) -> frozenset[Scope]:
        """What it may do: scopes restrict the role and never extend it."""
        allowed = ROLE_SCOPES[self.role]
        return allowed if self.scopes is None else allowed & frozenset(self.scopes)

    def is_valid(self, at: str) -> bool:
        """Whether it is accepted at a time: neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


class Identity(FrozenStruct, frozen=True, kw_only=True):
    """Whoever sends a request, and how that is known."""

    actor: str
    """The name in the audit log: a user's, or `key:` with the name and the id of a key."""
    role: Role
    scopes: frozenset[Scope]
    credential: Credential
    """`local` where no login is needed; a key; or the session of a browser."""
    key_id: str | None = None
    form_token: str | None = None
    """What an unsafe request of a session must repeat."""

    def may(self, scope: Scope) -> bool:
        """Whether its role and its key allow that."""
        return scope in self.scopes


def local_identity(actor: str) -> Identity:
    """The user of this machine, where no login is needed."""
    return Identity(actor=actor, role="admin", scopes=ROLE_SCOPES["admin"], credential="local")
