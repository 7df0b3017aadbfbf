"""Log in at an OpenID Connect issuer: send browsers there, and take them back."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, NoQuery
from steelyard.api.cookies import PENDING_COOKIE, ended_cookie, pending_cookie, session_cookie
from steelyard.api.operation import Operation
from steelyard.errors import InvalidError, NotFoundError
from steelyard.usecases.access.oidc import (
    Callback,
    Issuer,
    PendingLogin,
    finish_oidc_login,
    start_oidc_login,
)

_CALLBACK = "/v1/oidc/callback"
Text = Annotated[str, msgspec.Meta(max_length=8192)]


class CallbackQuery(msgspec.Struct, frozen=True):
    """What an issuer adds to the address; issuers add more than is used."""

    state: Text | None = None
    """Which login of the browser it is."""
    code: Text | None = None
    """What the ID token is fetched with."""
    error: Text | None = None
    """Why the issuer refuses."""
    iss: Text | None = None
    """The issuer, where it says so."""


def _log_in(call: Call[NoQuery, None]) -> Response:
    url, pending = start_oidc_login(call.project.access_ports(), _issuer(call), _own_address(call))
    headers = {"location": url, "set-cookie": pending_cookie(".".join(pending))}
    return Response(status_code=302, headers=headers)


def _come_back(call: Call[CallbackQuery, None]) -> Response:
    asked = call.query
    arrived = Callback(asked.state, asked.code, asked.error, asked.iss, _own_address(call))
    login = finish_oidc_login(
        call.project.access_ports(),
        _issuer(call),
        call.project.settings.oidc,
        (arrived, _pending(call.request.cookies.get(PENDING_COOKIE))),
        caller=call.caller,
    )
    answer = Response(status_code=302, headers={"location": "/"})
    answer.headers.append("set-cookie", session_cookie(login.session_id))
    answer.headers.append("set-cookie", ended_cookie(PENDING_COOKIE))
    return answer


def _issuer(call: Call[Any, Any]) -> Issuer:
    if not call.served.settings.has_login:
        raise InvalidError("this server has no login: it is open to the user of this machine")
    issuer = call.project.oidc_issuer()
    if issuer is None:
        raise NotFoundError("the project file names no OpenID Connect issuer")
    return issuer


def _own_address(call: Call[Any, Any]) -> str:
    """Where the issuer sends browsers back to."""
    public = call.served.settings.public_url or f"http://{call.request.headers.get('host', '')}"
    return public.rstrip("/") + _CALLBACK


def _pending(cookie: str | None) -> PendingLogin | None:
    parts = (cookie or "").split(".")
    is_whole = len(parts) == 3 and all(part and part.isascii() for part in parts)
    return PendingLogin(*parts) if is_whole else None


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/oidc/login",
        summary="Go to the OpenID Connect issuer to log in.",
        scope=None,
        handle=_log_in,
        answers={302: None},
        answer_headers={"Location": "The issuer."},
        errors=(404,),
    ),
    Operation(
        method="GET",
        path=_CALLBACK,
        summary="Come back from the issuer; begins a session.",
        scope=None,
        handle=_come_back,
        query=CallbackQuery,
        answers={302: None},
        answer_headers={"Location": "The first page."},
        errors=(401, 404),
    ),
)
