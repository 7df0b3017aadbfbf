"""One request as an operation sees it, and what the operation answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec
from starlette.requests import Request

from steelyard.api.serving import ServedProject
from steelyard.api.shown_results import ShownResults
from steelyard.model.access import Identity
from steelyard.model.audit import Caller
from steelyard.model.json_value import JsonObject
from steelyard.project import Project

Query = TypeVar("Query")
Body = TypeVar("Body")


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query of an operation that takes none."""


class NoBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of an operation that takes none: an empty object, if anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Query, Body]):
    """A request that was let in: who sends it, and what it says."""

    served: ServedProject
    identity: Identity
    request_id: str
    path: Mapping[str, str]
    """The parts of the address that the path of the operation names."""
    query: Query
    body: Body
    request: Request
    """For headers and bodies that are read as a stream."""

    @property
    def project(self) -> Project:
        """The project that is served."""
        return self.served.project

    @property
    def caller(self) -> Caller:
        """Who is logged for a change."""
        return Caller(self.identity.actor, self.request_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonReply:
    """What an operation answers; `request_id` is added to its body."""

    body: msgspec.Struct | JsonObject
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    shown: tuple[ShownResults, ...] = ()
    """The records whose results the answer shows."""

    def json(self, request_id: str) -> bytes:
        """The body, with the id of the request."""
        if isinstance(self.body, dict):
            return msgspec.json.encode({**self.body, "request_id": request_id})
        return with_request_id(open_body(msgspec.json.encode(self.body)), request_id)


def open_body(body: bytes) -> bytes:
    """A JSON object that lacks the id of a request as its last value."""
    return b'%b%b"request_id":' % (body[:-1], b"," if len(body) > 2 else b"")


def with_request_id(body: bytes, request_id: str) -> bytes:
    """Such an object with the id."""
    return b"%b%b}" % (body, msgspec.json.encode(request_id))
