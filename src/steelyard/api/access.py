"""Who sends a request, and whether an operation is open to them."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from steelyard.api.operation import Operation
from steelyard.api.serving import ServedProject
from steelyard.errors import ForbiddenError, UnauthorizedError
from steelyard.model.access import Identity, Scope, local_identity
from steelyard.ports import local_caller

NOBODY = Identity(actor="anonymous", role="viewer", scopes=frozenset(), credential="local")


async def authenticate(
    served: ServedProject, operation: Operation[Any, Any], _request: Request
) -> Identity:
    """Whoever sends a request; an error where that must be known and is not."""
    if operation.scope is None:
        return NOBODY
    if served.settings.has_login:
        raise UnauthorizedError("log in, or send a key as 'Authorization: Bearer …'")
    return local_identity(local_caller().actor)


def require_scope(identity: Identity, scope: Scope | None) -> None:
    """Refuse what a caller may not do."""
    if scope is not None and not identity.may(scope):
        raise ForbiddenError(f"{identity.actor} may not do this: it needs the scope '{scope}'")
