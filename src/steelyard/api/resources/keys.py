"""API keys: list, create and revoke them."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from steelyard.api.call import Call, JsonReply, NoQuery
from steelyard.api.operation import Operation
from steelyard.api.paging import Page, PageQuery, page_of
from steelyard.model.access import ApiKey, Role, Scope
from steelyard.model.names import MAX_NAME
from steelyard.usecases.access.keys import (
    MAX_DAYS,
    KeyRequest,
    create_key,
    list_keys,
    revoke_key,
)

KeyName = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
Days = Annotated[int, msgspec.Meta(ge=1, le=MAX_DAYS)]


class KeyBody(msgspec.Struct, frozen=True):
    """A key without its secret."""

    key_id: str
    """What stands for the key in addresses and in the audit log."""
    name: str
    """What it is for."""
    role: Role
    """The role that its scopes are of."""
    scopes: list[Scope]
    """What it may do: the scopes of its role, without those that were not asked for."""
    created_at: str
    """When it was created."""
    created_by: str
    """Who created it."""
    expires_at: str | None
    """When it expires; null for never."""
    revoked_at: str | None
    """When it was revoked."""
    last_used_at: str | None
    """When it was last used, to the minute."""


class NewKeyBody(KeyBody, frozen=True):
    """A new key with its secret, which is shown this once."""

    key: str
    """The key itself."""


class NewKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A key to create; without scopes it may do all that its role may."""

    name: KeyName
    """What the key is for."""
    role: Role
    """The most that the key may do."""
    scopes: Annotated[list[Scope], msgspec.Meta(min_length=1)] | None = None
    """What it is restricted to: scopes of its role."""
    expires_in_days: Days | None = None
    """Days until it expires; never without."""


def _values(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "role": key.role,
        "scopes": sorted(key.allowed),
        "created_at": key.created_at,
        "created_by": key.created_by,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


def _list(call: Call[PageQuery, None]) -> JsonReply:
    bodies = [KeyBody(**_values(key)) for key in list_keys(call.project.access_ports())]
    return JsonReply(body=page_of(bodies, lambda key: key.key_id, call.query))


def _create(call: Call[NoQuery, NewKey]) -> JsonReply:
    """A scope that the role does not have is an error, and nothing is created."""
    asked = call.body
    request = KeyRequest(asked.name, asked.role, asked.scopes, asked.expires_in_days)
    made = create_key(call.project.access_ports(), request, caller=call.caller)
    return JsonReply(body=NewKeyBody(**_values(made.key), key=made.secret), status=201)


def _revoke(call: Call[NoQuery, None]) -> Response:
    revoke_key(call.project.access_ports(), call.path["key_id"], caller=call.caller)
    return Response(status_code=204)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    Operation(
        method="GET",
        path="/v1/keys",
        summary="List keys without their secrets, newest first.",
        scope="admin",
        handle=_list,
        query=PageQuery,
        answers={200: Page[KeyBody]},
    ),
    Operation(
        method="POST",
        path="/v1/keys",
        summary="Create a key; the answer alone has its secret.",
        scope="admin",
        handle=_create,
        body=NewKey,
        answers={201: NewKeyBody},
    ),
    Operation(
        method="DELETE",
        path="/v1/keys/{key_id}",
        summary="Revoke a key, by its id or by a name that one valid key has.",
        scope="admin",
        handle=_revoke,
        answers={204: None},
        errors=(404,),
    ),
)
