"""Users: list, add, change and remove them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.model.access import Role, User
from steelyard.usecases.access.users import (
    MAX_PASSWORD,
    MIN_PASSWORD,
    add_user,
    change_user,
    list_users,
    remove_user,
    show_user,
)

UserName = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Password = Annotated[str, msgspec.Meta(min_length=MIN_PASSWORD, max_length=MAX_PASSWORD)]


class UserBody(msgspec.Struct, frozen=True):
    """A user, without the password."""

    name: str
    """The name with which the user logs in."""
    role: Role
    """What the user may do."""
    created_at: str
    """When the user was added."""
    has_password: bool
    """Whether the user can log in with a password."""
    issuer: str | None
    """The OpenID Connect issuer that knows the user."""


class NewUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user to add."""

    name: UserName
    """The name with which the user logs in."""
    role: Role
    """What the user may do."""
    password: Password
    """The password, which the user can change."""


class UserChanges(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to replace; either ends the sessions of the user."""

    role: Role | None = None
    """The new role."""
    password: Password | None = None
    """The new password."""


def _body(user: User) -> UserBody:
    return UserBody(user.name, user.role, user.created_at, user.has_password, user.issuer)


def _list(call: Call[PageQuery, None]) -> JsonReply:
    bodies = [_body(user) for user in list_users(call.project.access_ports())]
    return JsonReply(body=page_of(bodies, lambda user: user.name, call.query))


def _add(call: Call[NoQuery, NewUser]) -> JsonReply:
    ports, new = call.project.access_ports(), call.body
    user = add_user(ports, new.name, new.role, new.password, caller=call.caller)
    return JsonReply(body=_body(user), status=201)


def _show(call: Call[NoQuery, None]) -> JsonReply:
    return JsonReply(body=_body(show_user(call.project.access_ports(), call.path["name"])))


def _change(call: Call[NoQuery, UserChanges]) -> JsonReply:
    user = change_user(
        call.project.access_ports(),
        call.path["name"],
        role=call.body.role,
        password=call.body.password,
        caller=call.caller,
    )
    return JsonReply(body=_body(user))


def _remove(call: Call[NoQuery, None]) -> Response:
    remove_user(call.project.access_ports(), call.path["name"], caller=call.caller)
    return Response(status_code=204)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/users",
        summary="List users by name.",
        scope="admin",
        handle=_list,
        query=PageQuery,
        answers={200: Page[UserBody]},
    ),
    Operation(
        method="POST",
        path="/v1/users",
        summary="Add a user who logs in with a password.",
        scope="admin",
        handle=_add,
        body=NewUser,
        answers={201: UserBody},
        errors=(409,),
    ),
    Operation(
        method="GET",
        path="/v1/users/{name}",
        summary="Show a user.",
        scope="admin",
        handle=_show,
        answers={200: UserBody},
        errors=(404,),
    ),
    Operation(
        method="PUT",
        path="/v1/users/{name}",
        summary="Change the role or the password of a user; ends the user's sessions.",
        scope="admin",
        handle=_change,
        body=UserChanges,
        answers={200: UserBody},
        errors=(404, 409),
    ),
    Operation(
        method="DELETE",
        path="/v1/users/{name}",
        summary="Remove a user; ends the user's sessions.",
        scope="admin",
        handle=_remove,
        answers={204: None},
        errors=(404, 409),
    ),
)
