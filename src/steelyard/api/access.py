"""Who sends a request, and whether an operation is open to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.requests import Request

from steelyard.api.client_address import client_address
from steelyard.api.cookies import COOKIE
from steelyard.api.errors import ErrorReply
from steelyard.api.gatekeeping import is_own_origin
from steelyard.api.operation import Operation
from steelyard.api.serving import ServedProject, ServerSettings
from steelyard.errors import (
    ForbiddenError,
    InvalidError,
    RequestError,
    TooManyRequestsError,
    UnauthorizedError,
)
from steelyard.model.access import Identity, Scope, local_identity
from steelyard.ports import local_caller
from steelyard.usecases.access.keys import authenticate_key, sha256_of
from steelyard.usecases.access.ports import AccessPorts
from steelyard.usecases.access.sessions import authenticate_session, require_form_token

NOBODY = Identity(actor="anonymous", role="viewer", scopes=frozenset(), credential="local")
FORM_TOKEN = "x-form-token"  # noqa: S105 - the name of a header
_SAFE = {"GET", "HEAD", "OPTIONS"}


class Guarded(Protocol):
    """What a request asks for: an operation or a page."""

    @property
    def path(self) -> str: ...
    @property
    def scope(self) -> Scope | None: ...
    @property
    def is_protected(self) -> bool: ...


async def admit(
    served: ServedProject,
    operation: Guarded,
    request: Request,
    *,
    scope: Scope | None = None,
    is_form: bool = False,
) -> Identity:
    """Whoever sends a request, if they may; counts it, with its headers in the request's state.

    A form of a page has a scope of its own; its token is a field, checked by `require_token_of`
    once the form is read.
    """
    if not operation.is_protected:
        if operation.path.startswith(("/v1/", "/login")):
            _count(served, request, _address(served, request))
        return NOBODY
    try:
        identity = await authenticate(served, request, is_form=is_form)
    except RequestError:
        # Whose request it is, is not known: guesses count against where they come from.
        _count(served, request, _address(served, request))
        raise
    request.scope["state"]["actor"] = identity.actor
    _count(served, request, identity.key_id or identity.form_token or identity.actor)
    require_scope(identity, scope or operation.scope)
    return identity


def _address(served: ServedProject, request: Request) -> str:
    return client_address(request, served.settings.trusted_proxies)


async def authenticate(
    served: ServedProject, request: Request, *, is_form: bool = False
) -> Identity:
    """Whoever sends a request; an error where credentials are missing or wrong.

    Nothing of the body is read, so the token of a form is not checked here.
    """
    secret = presented_key(request.headers)
    if secret is not None:
        return await _known(served, authenticate_key, secret)
    if not served.settings.has_login:
        return _local_identity()
    session_id = request.cookies.get(COOKIE)
    if session_id is None:
        raise UnauthorizedError("log in, or send a key as 'Authorization: Bearer …'")
    identity = await _known(served, authenticate_session, session_id)
    if request.method not in _SAFE:
        require_own_origin(served.settings, request.headers)
        if not is_form:
            require_form_token(identity, request.headers.get(FORM_TOKEN))
    return identity


async def _known(
    served: ServedProject, check: Callable[[AccessPorts, str], Identity], secret: str
) -> Identity:
    """Whose secret it is: known from a moment ago, or checked in a thread."""
    proof = f"{check.__name__} {sha256_of(secret)}"
    changes = served.project.store.changes
    known = served.identities.find(proof, changes, served.newest)
    if known is None:
        # From before the check: whatever changes meanwhile is another version.
        version = changes.of_access()
        known = await run_sync(lambda: check(served.project.access_ports(), secret))
        served.identities.keep(proof, known, version)
    return known


def require_token_of(identity: Identity, request: Request, field: str | None) -> None:
    """Refuse a form that was sent with a cookie, but without the token of its session."""
    if identity.credential == "session":
        require_form_token(identity, field or request.headers.get(FORM_TOKEN))


async def is_still_admitted(
    served: ServedProject, operation: Operation[Any, Any], request: Request
) -> bool:
    """Whether a request that is being answered would be let in again; for long answers."""
    try:
        identity = await authenticate(served, request)
    except (UnauthorizedError, ForbiddenError):
        return False
    return operation.scope is None or identity.may(operation.scope)


def presented_key(headers: Headers) -> str | None:
    """The key that a request has, in either of two headers; None without one."""
    found: set[str] = set()
    for name, value in headers.raw:
        if name == b"x-api-key":
            found.add(value.decode("latin-1"))
        elif name == b"authorization":
            scheme, _, secret = value.decode("latin-1").strip().partition(" ")
            if scheme.lower() != "bearer":
                raise UnauthorizedError("send a key as 'Authorization: Bearer …'")
            found.add(secret.strip())
    if len(found) > 1:
        raise InvalidError("the request has two different keys; send one")
    return next(iter(found), None)


def require_own_origin(settings: ServerSettings, headers: Headers) -> None:
    """Refuse what no page of this server has sent; browsers always say which page it was."""
    origin = headers.get("origin", "")
    if not is_own_origin(origin, headers.get("host", ""), settings):
        raise ForbiddenError(f"the request comes from '{origin}', which is not this server")


def require_scope(identity: Identity, scope: Scope | None) -> None:
    """Refuse what a caller may not do."""
    if scope is not None and not identity.may(scope):
        raise ErrorReply(
            status=403,
            message=f"{identity.actor} may not do this: it needs the scope '{scope}'",
            details={
                "required_scopes": [scope],
                "missing_scopes": [scope],
                "role": identity.role,
            },
        )


def _count(served: ServedProject, request: Request, subject: str) -> None:
    """Count a request, unless the server is for its own user alone."""
    if not served.settings.has_login:
        return
    left = served.limiter.count(subject, served.settings.requests_per_minute)
    request.scope["state"]["answer_headers"] = left.headers()
    if left.is_exceeded:
        raise TooManyRequestsError(
            f"more than {left.limit} requests in a minute; wait {left.reset_s} s",
            retry_after_s=left.reset_s,
            limit=left.limit,
        )


@cache
def _local_identity() -> Identity:
    return local_identity(local_caller().actor)
