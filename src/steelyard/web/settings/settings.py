"""Settings of an administrator: users, what roles may do, and how login is turned on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from starlette.responses import RedirectResponse, Response

from steelyard.api.errors import message_of, status_of
from steelyard.errors import InvalidError, RequestError
from steelyard.model.access import ROLE_SCOPES, ROLES, SCOPE_MEANINGS, SCOPES, Role, Scope, User
from steelyard.usecases.access.users import (
    MIN_PASSWORD,
    add_user,
    change_user,
    list_users,
    remove_user,
    show_user,
)
from steelyard.web.page import AnyPage, Context, Crumb, PlainQuery, Visit, WebPage
from steelyard.web.rendering import segment

CRUMB = Crumb("Settings", "/settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersContext(Context):
    """What the page of users shows."""

    template: ClassVar[str] = "settings_users.html"
    tab: ClassVar[str] = "users"
    users: tuple[User, ...]
    roles: tuple[Role, ...] = ROLES
    role_scopes: Mapping[Role, frozenset[Scope]]
    scopes: tuple[tuple[Scope, str], ...]
    typed: Mapping[str, str]
    """What was typed into the form of a new user, without the password."""
    problem: str = ""
    min_length: int = MIN_PASSWORD


@dataclass(frozen=True, slots=True, kw_only=True)
class UserContext(Context):
    """What the page of one user shows."""

    template: ClassVar[str] = "settings_user.html"
    tab: ClassVar[str] = "users"
    user: User
    roles: tuple[Role, ...] = ROLES
    is_own: bool
    """Whether it is the visitor's own account, whose sessions a change ends."""
    problem: str = ""
    min_length: int = MIN_PASSWORD


def problem_of(visit: Visit[Any], error: RequestError) -> str:
    """What is wrong with a form, as a sentence."""
    text = message_of(error, visit.project.root)
    return f"{text[:1].upper()}{text[1:]}."


def _show_users(visit: Visit[PlainQuery]) -> UsersContext:
    return UsersContext(
        title="Settings",
        users=tuple(list_users(visit.project.access_ports())),
        role_scopes=ROLE_SCOPES,
        scopes=tuple((scope, SCOPE_MEANINGS[scope]) for scope in SCOPES),
        typed={},
    )


def _add_user(visit: Visit[PlainQuery]) -> Context | Response:
    form = visit.form
    name, role = form.get("name", ""), form.get("role", "")
    try:
        ports = visit.project.access_ports()
        add_user(ports, name, role, form.get("password", ""), caller=visit.caller)
    except RequestError as error:
        shown = replace(_show_users(visit), typed={"name": name, "role": role})
        return replace(shown, problem=problem_of(visit, error), status=status_of(error))
    return RedirectResponse("/settings", 303)


def _show_user(visit: Visit[PlainQuery]) -> UserContext:
    user = show_user(visit.project.access_ports(), visit.path["name"])
    is_own = visit.identity.credential == "session" and visit.identity.actor == user.name
    return UserContext(title=user.name, crumbs=(CRUMB,), user=user, is_own=is_own)


def _change_user(visit: Visit[PlainQuery]) -> Context | Response:
    shown = _show_user(visit)
    try:
        _change(visit, shown.user.name)
    except RequestError as error:
        return replace(shown, problem=problem_of(visit, error), status=status_of(error))
    is_gone = visit.form.get("action") == "remove"
    address = "/settings" if is_gone else f"/settings/users/{segment(shown.user.name)}"
    return RedirectResponse(address, 303)


def _change(visit: Visit[Any], name: str) -> None:
    ports, form, caller = visit.project.access_ports(), visit.form, visit.caller
    action = form.get("action")
    if action == "role":
        change_user(ports, name, role=form.get("role", ""), caller=caller)
    elif action == "password":
        change_user(ports, name, password=form.get("password", ""), caller=caller)
    elif action == "remove":
        if form.get("confirm") != name:
            raise InvalidError(f"type the name, {name}, to remove this user")
        remove_user(ports, name, caller=caller)
    else:
        raise InvalidError("the form says neither role, password nor remove")


PAGES: tuple[AnyPage, ...] = (
    WebPage(
        path="/settings", section="settings", scope="admin", show=_show_users, submit=_add_user
    ),
    WebPage(
        path="/settings/users/{name}",
        section="settings",
        scope="admin",
        show=_show_user,
        submit=_change_user,
    ),
)
