"""Who am I, log in, log out; and the operations of users, keys and the audit log."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from steelyard.api import oidc
from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.client_address import client_address
from steelyard.api.cookies import COOKIE, ended_cookie, session_cookie
from steelyard.api.operation import Operation
from steelyard.api.resources import audit, keys, users
from steelyard.errors import InvalidError
from steelyard.model.access import Credential, Role, Scope
from steelyard.usecases.access.sessions import (
    Credentials,
    change_own_password,
    log_in,
    log_out,
)

Text = Annotated[str, msgspec.Meta(max_length=1024)]


class Me(msgspec.Struct, frozen=True):
    """Whoever sends this request."""

    actor: str
    """The name in the audit log."""
    role: Role
    """The role of the user or key."""
    scopes: list[Scope]
    """What the caller may do."""
    credential: Credential
    """How the caller is known."""
    key_id: str | None
    """The key, where there is one."""
    form_token: str | None
    """What requests of this session that change something must repeat as x-form-token."""


class LoginBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a person types to log in."""

    name: Text
    """The name of the user."""
    password: Text
    """The password of the user."""


class LoggedIn(msgspec.Struct, frozen=True):
    """A session that has begun; its id is in the cookie."""

    name: str
    """The name of the user."""
    role: Role
    """The role of the user."""
    form_token: str
    """What requests that change something must repeat as x-form-token."""


class NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of the caller's own password."""

    current: Text
    """The password until now."""
    password: Text
    """The new one."""


def _me(call: Call[NoQuery, None]) -> JsonReply:
    who = call.identity
    return JsonReply(
        body=Me(
            actor=who.actor,
            role=who.role,
            scopes=sorted(who.scopes),
            credential=who.credential,
            key_id=who.key_id,
            form_token=who.form_token,
        )
    )


def _log_in(call: Call[NoQuery, LoginBody]) -> JsonReply:
    settings, request = call.served.settings, call.request
    if not settings.has_login:
        raise InvalidError("this server has no login: it is open to the user of this machine")
    ports = call.project.access_ports()
    login = log_in(
        ports, _credentials(call, call.body.name, call.body.password), caller=call.caller
    )
    if old := request.cookies.get(COOKIE):
        log_out(ports, old, caller=call.caller)
    return JsonReply(
        body=LoggedIn(login.user.name, login.user.role, login.form_token),
        headers={"set-cookie": session_cookie(login.session_id)},
    )


def _log_out(call: Call[NoQuery, None]) -> Response:
    if session_id := call.request.cookies.get(COOKIE):
        log_out(call.project.access_ports(), session_id, caller=call.caller)
    return Response(status_code=204, headers={"set-cookie": ended_cookie()})


def _change_password(call: Call[NoQuery, NewPassword]) -> Response:
    if call.identity.credential != "session":
        raise InvalidError("only a user who is logged in has a password to change")
    given = _credentials(call, call.identity.actor, call.body.current)
    ports = call.project.access_ports()
    change_own_password(ports, given, call.body.password, caller=call.caller)
    return Response(status_code=204, headers={"set-cookie": ended_cookie()})


def _credentials(call: Call[Any, Any], name: str, password: str) -> Credentials:
    address = client_address(call.request, call.served.settings.trusted_proxies)
    return Credentials(name, password, address)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/me",
        summary="Who sends this request, and what they may do.",
        scope=None,
        requires_login=True,
        handle=_me,
        answers={200: Me},
        is_quick=True,
    ),
    Operation(
        method="PUT",
        path="/v1/me/password",
        summary="Change one's own password; ends all sessions of the user.",
        scope=None,
        requires_login=True,
        handle=_change_password,
        body=NewPassword,
        answers={204: None},
    ),
    Operation(
        method="POST",
        path="/v1/login",
        summary="Begin a session; the answer sets its cookie.",
        scope=None,
        handle=_log_in,
        body=LoginBody,
        answers={200: LoggedIn},
        errors=(401,),
    ),
    Operation(
        method="POST",
        path="/v1/logout",
        summary="End the session.",
        scope=None,
        requires_login=True,
        handle=_log_out,
        answers={204: None},
    ),
    *oidc.OPERATIONS,
    *users.OPERATIONS,
    *keys.OPERATIONS,
    *audit.OPERATIONS,
)
