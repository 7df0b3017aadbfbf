"""An operation: one method of one path, declared once for routing, access and OpenAPI."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias

import anyio.to_thread
import msgspec
from starlette.requests import Request
from starlette.responses import Response

from steelyard.api.call import Body, Call, JsonReply, NoBody, NoQuery, Query
from steelyard.api.invalid_values import explained
from steelyard.api.request_body import body_chunks
from steelyard.api.secret_values import SecretValues
from steelyard.api.serving import ServedProject
from steelyard.errors import InvalidError
from steelyard.model.access import Identity, Scope
from steelyard.model.json_value import JsonObject

Method: TypeAlias = Literal["GET", "POST", "PUT", "DELETE"]
MAX_BODY = 1024 * 1024
"""The most bytes of a body, where an operation says nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorForm:
    """The errors of a protocol that has its own."""

    write: Callable[[Request, int, str, Mapping[str, str]], Response]
    """The answer to a request, from a status, a message and headers."""
    content: Mapping[str, Any]
    """Its media types, with the type of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation(Generic[Query, Body]):
    """What is called for a request, and what OpenAPI says about it."""

    method: Method
    path: str
    summary: str
    scope: Scope | None
    """What its caller must be allowed to do; None where every caller may call it."""
    handle: Callable[[Call[Query, Body]], JsonReply | Response | Awaitable[JsonReply | Response]]
    """A function that blocks is called in a thread, unless it is `quick`."""
    query: type[Query] = NoQuery  # pyright: ignore[reportAssignmentType] - a default for most
    body: type[Body] | None = None
    """The type of the JSON body; None where there is none, or it is read as a stream."""
    streamed: Mapping[str, type | None] = field(default_factory=dict[str, type | None])
    """The media types of a body that the operation reads itself, with the type of JSON."""
    answers: Mapping[int, Any]
    """The type of the JSON body by status; a text names the media types of another body, with
    blanks between them; None where there is no body."""
    answer_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers of its answers by name, with what each says."""
    request_headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Headers that it reads by name, with what each does."""
    example: JsonObject | None = None
    """An example of its JSON body."""
    errors: tuple[int, ...] = ()
    """Statuses of errors beyond those that every operation has."""
    max_body: int = MAX_BODY
    is_quick: bool = False
    """Whether it takes less time than to hand it to a thread."""
    is_kept: bool = False
    """Whether the answer depends on the store and the address alone, and may be given again."""
    requires_login: bool = False
    """Whether its caller must be known though no scope is needed."""
    is_open: bool = False
    """Whether pages of every origin may read the answer."""
    error_form: ErrorForm | None = None
    """How it writes errors, where its protocol has a form of its own."""

    @property
    def is_protected(self) -> bool:
        """Whether its caller must be known."""
        return self.scope is not None or self.requires_login

    async def answer(
        self, served: ServedProject, identity: Identity, request_id: str, request: Request
    ) -> JsonReply | Response:
        """Read what the request says and call the function."""
        call = Call(
            served=served,
            identity=identity,
            request_id=request_id,
            path=request.path_params,
            query=read_query(request, self.query),
            body=await self._read_body(request),
            request=request,
        )
        if inspect.iscoroutinefunction(self.handle):
            return await self.handle(call)
        if self.is_quick:
            return self.handle(call)  # pyright: ignore[reportReturnType] - no coroutine function
        return await anyio.to_thread.run_sync(self.handle, call)  # pyright: ignore[reportReturnType]

    async def _read_body(self, request: Request) -> Body:
        if self.body is None:
            if not self.streamed and self.method != "GET":
                await _require_no_body(request)
            return None  # pyright: ignore[reportReturnType] - `Body` is None then
        require_json(request)
        data = await read_bytes(request, self.max_body)
        secrets: SecretValues = request.scope["state"]["secrets"]
        return decoded(secrets.without(data), self.body)


async def _require_no_body(request: Request) -> None:
    """Refuse a body that says something; no body and an empty object are the same."""
    data = await read_bytes(request, MAX_BODY)
    if data:
        require_json(request)
        decoded(data, NoBody)


def read_query(request: Request, kind: type[Query]) -> Query:
    """The query as its type; an unknown or repeated name is an error."""
    pairs = request.query_params.multi_items()
    values = dict(pairs)
    if len(values) != len(pairs):
        raise InvalidError("a name of the query is given more than once")
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as wrong:
        raise InvalidError(f"the query is invalid: {explained(wrong, kind)}") from None


def require_json(request: Request) -> None:
    """Refuse a body that is not sent as JSON, which forms of other sites cannot send."""
    kind, _, rest = request.headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json":
        raise InvalidError(f"the content type must be application/json, not '{kind.strip()}'")
    charset = rest.strip().lower().removeprefix("charset=").strip('"')
    if charset not in {"", "utf-8", "utf8"}:
        raise InvalidError(f"the body must be UTF-8, not '{charset}'")


async def read_bytes(request: Request, limit: int) -> bytes:
    """The body, of which no more than the limit is ever held."""
    found = bytearray()
    async for chunk in body_chunks(request, limit):
        found += chunk
    return bytes(found)


def _outline(kind: type[Any]) -> str:
    """The fields that a body must have, as JSON."""
    if not hasattr(kind, "__struct_fields__"):
        return "{…}"
    known = msgspec.structs.fields(kind)
    required = (f'"{one.encode_name}": …' for one in known if one.required)
    return f"{{{', '.join(required)}}}"


def decoded(data: bytes, kind: type[Body]) -> Body:
    """A JSON body as its type."""
    if not data.strip():
        raise InvalidError(f"the body is empty; expected JSON: {_outline(kind)}")
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as wrong:
        raise InvalidError(f"the body is invalid: {explained(wrong, kind)}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise InvalidError(f"the body is not JSON: {wrong}") from None
