"""The ASGI application: routes requests to operations and turns errors into answers."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from steelyard.api import (
    access_control,
    artifacts,
    comparisons,
    datasets,
    definitions,
    health,
    metrics,
    new_runs,
    records,
    retention,
    run_changes,
    run_stream,
    runs,
    saved_entries,
    validation,
)
from steelyard.api.access import admit
from steelyard.api.call import Call, JsonReply, NoQuery, with_request_id
from steelyard.api.errors import ErrorReply, error_body, message_of, status_of
from steelyard.api.gatekeeping import Gatekeeper
from steelyard.api.operation import Operation
from steelyard.api.serving import ServedProject
from steelyard.errors import TooManyRequestsError

_JSON = "application/json"
_LOG = logging.getLogger("steelyard.api")


def operations() -> tuple[Operation[Any, Any], ...]:
    """Every operation of the API."""
    resources = (
        *(new_runs, runs, run_changes, run_stream, records, artifacts, comparisons, retention),
        *(datasets, definitions, saved_entries, validation, access_control, health, metrics),
    )
    return (*(one for resource in resources for one in resource.OPERATIONS), _OPENAPI)


def _openapi(_call: Call[NoQuery, None]) -> Response:
    from steelyard.api.openapi import document  # noqa: PLC0415 - made for this operation alone

    return Response(msgspec.json.encode(document(operations())), media_type=_JSON)


_OPENAPI = Operation(
    method="GET",
    path="/openapi.json",
    summary="This API.",
    scope=None,
    handle=_openapi,
    answers={200: _JSON},
)


def make_application(served: ServedProject) -> Gatekeeper:
    """The application that serves a project."""
    by_path: dict[str, dict[str, Operation[Any, Any]]] = {}
    for operation in operations():
        by_path.setdefault(operation.path, {})[operation.method] = operation
    routes = [_route(served, path, list(found.values())) for path, found in by_path.items()]
    application = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _not_routed, Exception: _unexpected},
    )
    application.router.redirect_slashes = False
    # Outside of the application: its answers to errors of its own are safe, too.
    return Gatekeeper(application, served)


def _route(served: ServedProject, path: str, found: Sequence[Operation[Any, Any]]) -> Route:
    by_method = {operation.method: operation for operation in found}
    methods = [*by_method, *(["HEAD"] if "GET" in by_method else [])]

    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        answer = await _answered(served, by_method[method], request)
        answer.headers.update(getattr(request.state, "answer_headers", {}))
        return answer

    return Route(path, serve, methods=methods)


async def _answered(
    served: ServedProject, operation: Operation[Any, Any], request: Request
) -> Response:
    """The answer of an operation, or that of the error that it raised."""
    request_id: str = request.state.request_id
    request.state.route = operation.path
    try:
        identity = await admit(served, operation, request)
        if operation.is_kept and (kept := _kept(served, request)):
            return Response(with_request_id(kept, request_id), media_type=_JSON)
        changes = served.project.store.changes.count() if operation.is_kept else 0
        made = await operation.answer(served, identity, request_id, request)
    except ErrorReply as error:
        body = error_body(error.status, error.message, request_id, error.details)
        return Response(body, error.status, dict(error.headers), _JSON)
    except Exception as error:  # noqa: BLE001 - every error has one shape
        return _failed(error, request_id)
    if operation.is_kept and isinstance(made, JsonReply):
        body = msgspec.json.encode(made.body)
        served.kept.keep(_address(request), changes, body)
        return Response(with_request_id(body, request_id), media_type=_JSON)
    if isinstance(made, JsonReply):
        made = Response(made.json(request_id), made.status, dict(made.headers), _JSON)
    if operation.is_open:
        made.headers["access-control-allow-origin"] = "*"
    return made


def _kept(served: ServedProject, request: Request) -> bytes | None:
    return served.kept.find(_address(request), served.project.store.changes.count())


def _address(request: Request) -> bytes:
    return request.scope["raw_path"] + b"?" + request.scope["query_string"]


def _failed(error: Exception, request_id: str) -> Response:
    status = status_of(error)
    headers: dict[str, str] = {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooManyRequestsError):
        wait_s = str(max(1, math.ceil(error.retry_after_s)))
        headers |= {"retry-after": wait_s, "x-ratelimit-reset": wait_s}
        headers |= {"x-ratelimit-limit": str(error.limit or 0), "x-ratelimit-remaining": "0"}
    if status == 500:
        _LOG.error("internal error", exc_info=error, extra={"request_id": request_id})
    return Response(error_body(status, message_of(error), request_id), status, headers, _JSON)


async def _not_routed(request: Request, error: Exception) -> Response:
    """The answer where no route has the path, or not the method."""
    assert isinstance(error, HTTPException)
    message = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not possible here",
    }.get(error.status_code, error.detail)
    status = error.status_code if error.status_code in {404, 405} else 400
    body = error_body(status, message, request.state.request_id)
    return Response(body, status, dict(error.headers or {}), _JSON)


async def _unexpected(request: Request, error: Exception) -> Response:
    return _failed(error, request.state.request_id)
