"""Log in and out, and change one's own password."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec
from starlette.responses import RedirectResponse, Response

from steelyard.api.client_address import client_address
from steelyard.api.cookies import COOKIE, ended_cookie, session_cookie
from steelyard.api.errors import headers_of, status_of
from steelyard.errors import InvalidError, RequestError, TooManyRequestsError
from steelyard.usecases.access.sessions import (
    Credentials,
    change_own_password,
    log_in,
    log_out,
)
from steelyard.usecases.access.users import MIN_PASSWORD
from steelyard.web.own_path import own_path
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.settings.settings import problem_of

_MOST_BYTES = 16 * 1024
_NO_LOGIN = "this server has no login: it is open to the user of this machine"


class LoginQuery(msgspec.Struct, frozen=True):
    """Where to go after the login."""

    next: str | None = None
    changed: bool = False
    """Whether a changed password is why somebody must log in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginContext(Context):
    """What the login page shows."""

    template: ClassVar[str] = "login.html"
    next: str
    name: str = ""
    """What was typed."""
    problem: str = ""
    has_changed: bool = False
    has_issuer: bool = False
    has_login: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutContext(Context):
    """What the logout page shows."""

    template: ClassVar[str] = "logout.html"
    role: str
    is_session: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordContext(Context):
    """What the page for one's own password shows."""

    template: ClassVar[str] = "password.html"
    is_session: bool
    problem: str = ""
    min_length: int = MIN_PASSWORD


def _show_login(visit: Visit[LoginQuery]) -> LoginContext:
    settings = visit.project.settings
    return LoginContext(
        title="Log in",
        next=own_path(visit.query.next),
        has_changed=visit.query.changed,
        has_issuer=settings.oidc.issuer is not None,
        has_login=visit.served.settings.has_login,
    )


def _log_in(visit: Visit[LoginQuery]) -> Context | Response:
    if not visit.served.settings.has_login:
        raise InvalidError(_NO_LOGIN)
    ports, form = visit.project.access_ports(), visit.form
    name = form.get("name", "")
    try:
        login = log_in(
            ports, _credentials(visit, name, form.get("password", "")), caller=visit.caller
        )
    except RequestError as error:
        _note_wait(visit, error)
        shown = replace(_show_login(visit), next=own_path(form.get("next")), name=name)
        return replace(shown, problem=problem_of(visit, error), status=status_of(error))
    if old := visit.request.cookies.get(COOKIE):
        log_out(ports, old, caller=visit.caller)
    answer = RedirectResponse(own_path(form.get("next")), 303)
    answer.headers["set-cookie"] = session_cookie(login.session_id)
    return answer


def _show_logout(visit: Visit[PlainQuery]) -> LogoutContext:
    who = visit.identity
    return LogoutContext(title=who.actor, role=who.role, is_session=who.credential == "session")


def _log_out(visit: Visit[PlainQuery]) -> Response:
    if session_id := visit.request.cookies.get(COOKIE):
        log_out(visit.project.access_ports(), session_id, caller=visit.caller)
    return RedirectResponse("/login", 303, {"set-cookie": ended_cookie()})


def _show_password(visit: Visit[PlainQuery]) -> PasswordContext:
    crumbs = (Crumb(visit.identity.actor, "/logout"),)
    is_session = visit.identity.credential == "session"
    return PasswordContext(title="Change your password", crumbs=crumbs, is_session=is_session)


def _change_password(visit: Visit[PlainQuery]) -> Context | Response:
    form, ports = visit.form, visit.project.access_ports()
    try:
        if visit.identity.credential != "session":
            raise InvalidError("only a user who is logged in has a password to change")
        if form.get("password") != form.get("again"):
            raise InvalidError("the new password was not typed the same twice")
        given = _credentials(visit, visit.identity.actor, form.get("current", ""))
        change_own_password(ports, given, form.get("password", ""), caller=visit.caller)
    except RequestError as error:
        _note_wait(visit, error)
        status = 400 if status_of(error) == 401 else status_of(error)
        return replace(_show_password(visit), problem=problem_of(visit, error), status=status)
    address = f"/login?changed=true&next={quote('/')}"
    return RedirectResponse(address, 303, {"set-cookie": ended_cookie()})


def _credentials(visit: Visit[Any], name: str, password: str) -> Credentials:
    address = client_address(visit.request, visit.served.settings.trusted_proxies)
    return Credentials(name, password, address)


def _note_wait(visit: Visit[Any], error: RequestError) -> None:
    """Say in a header how long to wait, as the API does."""
    if isinstance(error, TooManyRequestsError):
        known = getattr(visit.request.state, "answer_headers", {})
        visit.request.state.answer_headers = {**known, **headers_of(error)}


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/login",
        section="",
        scope=None,
        requires_login=False,
        show=_show_login,
        submit=_log_in,
        query=LoginQuery,
        max_form=_MOST_BYTES,
    ),
    WebPage(
        path="/logout",
        section="",
        scope=None,
        show=_show_logout,
        submit=_log_out,
        max_form=_MOST_BYTES,
    ),
    WebPage(
        path="/settings/password",
        section="",
        scope=None,
        show=_show_password,
        submit=_change_password,
        max_form=_MOST_BYTES,
    ),
)
