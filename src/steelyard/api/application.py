"""The ASGI application: routes requests to operations and turns errors into answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from steelyard.api.answering import JSON, JsonBytes, address_of, answer_request, failed_answer
from steelyard.api.call import Call, NoQuery
from steelyard.api.errors import error_body, headers_of
from steelyard.api.gatekeeping import Gatekeeper
from steelyard.api.kept_replies import KeptReply
from steelyard.api.operation import Operation
from steelyard.api.resources import (
    access_control,
    artifacts,
    comparisons,
    datasets,
    definitions,
    health,
    metrics,
    new_runs,
    otlp,
    records,
    retention,
    run_changes,
    run_stream,
    runs,
    saved_entries,
    trace_sets,
    validation,
)
from steelyard.api.resources.review import adjudication, answering, judgements, labels, queues
from steelyard.api.serving import ServedProject
from steelyard.errors import UnavailableError

ShowError: TypeAlias = Callable[[ServedProject, Request, Exception], Awaitable[Response]]
_READING = ("GET", "HEAD")


def operations() -> tuple[Operation[Any, Any], ...]:
    """Every operation of the API."""
    resources = (
        *(new_runs, runs, run_changes, run_stream, records, artifacts, comparisons, retention),
        *(queues, answering, adjudication, judgements, labels),
        *(datasets, definitions, saved_entries, validation, access_control, health, metrics),
        *(otlp, trace_sets),
    )
    return (*(one for resource in resources for one in resource.OPERATIONS), _OPENAPI)


def _openapi(_call: Call[NoQuery, None]) -> Response:
    return JsonBytes(_document())


@cache
def _document() -> bytes:
    from steelyard.api.openapi import document  # noqa: PLC0415 - made for this operation alone

    return msgspec.json.encode(document(operations()))


_OPENAPI = Operation(
    method="GET",
    path="/openapi.json",
    summary="This API.",
    scope=None,
    handle=_openapi,
    answers={200: JSON},
)


def make_application(
    served: ServedProject, pages: Sequence[Route] = (), show_error: ShowError | None = None
) -> Gatekeeper:
    """The application that serves a project: the API, and pages beside it.

    Where no route is, `show_error` answers browsers; without it they are answered like programs.
    """
    by_path: dict[str, dict[str, Operation[Any, Any]]] = {}
    for operation in operations():
        by_path.setdefault(operation.path, {})[operation.method] = operation
    routes = [_route(served, path, list(found.values())) for path, found in by_path.items()]

    async def not_routed(request: Request, error: Exception) -> Response:
        if show_error and _is_browser(request):
            return await show_error(served, request, error)
        return _not_routed(request, error)

    unexpected = partial(_unexpected, served.project.root)
    application = Starlette(
        routes=[*routes, *pages],
        exception_handlers={HTTPException: not_routed, Exception: unexpected},
    )
    application.router.redirect_slashes = False
    # Outside of the application: its answers to errors of its own are safe, too.
    forms = {one.path: one.error_form for one in operations() if one.error_form}
    return Gatekeeper(_KeptFirst(application, served), served, forms)


class _KeptFirst:
    """Gives the answers that are kept; their requests need no routing."""

    def __init__(self, app: ASGIApp, served: ServedProject) -> None:
        self._app = app
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        kept = self._kept(scope)
        if kept is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive, send)
        answer = await answer_request(self._served, kept.operation, request, kept)
        await answer(scope, receive, send)

    def _kept(self, scope: Scope) -> KeptReply[Operation[Any, Any]] | None:
        if scope["type"] != "http" or scope["method"] not in _READING:
            return None
        served = self._served
        try:
            changes = served.project.store.changes
            return served.kept.find(address_of(scope), changes, served.newest)
        except UnavailableError:
            return None  # the operation says so, to whoever may know


def _route(served: ServedProject, path: str, found: Sequence[Operation[Any, Any]]) -> Route:
    by_method = {operation.method: operation for operation in found}
    methods = [*by_method, *(["HEAD"] if "GET" in by_method else [])]

    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await answer_request(served, by_method[method], request)

    return Route(path, serve, methods=methods)


def _is_browser(request: Request) -> bool:
    """Whether a person opens an address that is none of the API."""
    is_page = "text/html" in request.headers.get("accept", "")
    return is_page and not request.url.path.startswith("/v1/")


def _not_routed(request: Request, error: Exception) -> Response:
    """The answer where no route has the path, or not the method."""
    assert isinstance(error, HTTPException)
    message = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not possible here",
    }.get(error.status_code, error.detail)
    status = error.status_code if error.status_code in {404, 405} else 400
    body = error_body(status, message, request.state.request_id)
    return Response(body, status, headers_of(error), JSON)


async def _unexpected(root: Path, request: Request, error: Exception) -> Response:
    return failed_answer(error, request.state.request_id, root)
