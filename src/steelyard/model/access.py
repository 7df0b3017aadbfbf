"""Who may do what: roles, scopes, and whoever sends a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

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

Credential: TypeAlias = Literal["local", "key", "session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whoever sends a request, and how that is known."""

    actor: str
    """The name that the audit log has: a user's, or `key:` and a key's."""
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
