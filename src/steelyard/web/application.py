"""The pages as routes: who may see them, what they are shown, and errors as pages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_bytes
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

import msgspec
from anyio.to_thread import run_sync
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from steelyard.api.access import admit, authenticate, require_token_of
from steelyard.api.errors import CODES, ErrorReply, headers_of, message_of, status_of
from steelyard.api.invalid_values import explained
from steelyard.api.secret_values import SecretValues
from steelyard.api.serving import ServedProject
from steelyard.errors import InvalidError, RequestError
from steelyard.formats.root_paths import text_from
from steelyard.model.access import Identity
from steelyard.reports.page_budget import limited_page
from steelyard.usecases.access.form_tokens import masked_token
from steelyard.web.assets import asset_answer
from steelyard.web.compression import compressed
from steelyard.web.form import read_form
from steelyard.web.own_path import HOME, own_path
from steelyard.web.page import AnyPage, Context, Visit
from steelyard.web.rendering import Frame, render

_LOG = logging.getLogger("steelyard.web")
_TOKEN = "form_token"  # noqa: S105 - the name of a field
_OF_A_VISITOR = (403, 404, 405)
"""The errors before anybody is let in that a visitor who is known gets as well."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorContext(Context):
    """Why a page cannot be shown."""

    template: ClassVar[str] = "error.html"
    message: str
    request_id: str
    back: str
    """The page that led here; the home page where that is not known."""


def page_routes(served: ServedProject, pages: Sequence[AnyPage]) -> list[Route]:
    """The routes of pages, and of the files that they load."""
    return [
        *(_route(served, page) for page in pages),
        Route("/assets/{version}/{name}", _asset(served), methods=["GET", "HEAD"]),
    ]


def _asset(served: ServedProject) -> Callable[[Request], Any]:
    async def serve(request: Request) -> Response:
        try:
            return asset_answer(request)
        except Exception as error:  # noqa: BLE001 - every error has one shape
            return await error_page(served, request, error)

    return serve


def _route(served: ServedProject, page: AnyPage) -> Route:
    async def serve(request: Request) -> Response:
        request.state.route = page.path
        try:
            answer = await _answered(served, page, request)
        except Exception as error:  # noqa: BLE001 - every error has one shape
            answer = await error_page(served, request, error, page)
        answer.headers.update(getattr(request.state, "answer_headers", {}))
        return answer

    methods = ["GET", "HEAD"] + (["POST"] if page.submit else [])
    return Route(page.path, serve, methods=methods)


async def _answered(served: ServedProject, page: AnyPage, request: Request) -> Response:
    is_form = request.method == "POST"
    scope = (page.submit_scope or page.scope) if is_form else page.scope
    # Before the body is read: a stranger cannot make the server read and decode it.
    identity = await admit(served, page, request, scope=scope, is_form=is_form)
    request.state.visitor = identity
    form: dict[str, str] = {}
    if is_form:
        form = await read_form(request, page.max_form, page.max_fields)
        secrets: SecretValues = request.scope["state"]["secrets"]
        form = secrets.without_in(form)
        require_token_of(identity, request, form.get(_TOKEN))
    visit = Visit(
        served=served,
        identity=identity,
        request_id=request.state.request_id,
        path=request.path_params,
        query=_read_query(request, page.query),
        request=request,
        form=form,
    )
    handle = page.submit if is_form else page.show
    assert handle
    # The budget is seen by both threads, which copy the context of this task.
    with limited_page():
        shown = await run_sync(handle, visit)
        if isinstance(shown, Response):
            return shown
        frame = frame_of(served, request, page, identity)
        return await run_sync(_rendered, shown, frame, request.headers)


def frame_of(
    served: ServedProject, request: Request, page: AnyPage | None, identity: Identity | None
) -> Frame:
    """What surrounds a page."""
    query = request.url.query
    token = (identity.form_token if identity else None) or ""
    return Frame(
        section=page.section if page else "",
        identity=identity,
        has_login=served.settings.has_login,
        path=request.url.path + (f"?{query}" if query else ""),
        project=served.project.root.name,
        form_token=token and masked_token(token, token_bytes(len(token.encode()))),
    )


def _rendered(context: Context, frame: Frame, headers: Headers) -> Response:
    return compressed(render(context, frame), headers)


def _read_query(request: Request, kind: type[Any]) -> Any:
    """The query as its type; empty fields of forms say nothing.

    A list refuses what it does not know: a filter that is misspelt would show everything.
    """
    values = {name: value for name, value in request.query_params.items() if value}
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as wrong:
        text = explained(wrong, kind)
        if not text.startswith("invalid value") and "is not a known field" not in text:
            name = str(wrong).rpartition("`$.")[2].rstrip("`")
            text = f"'{name}' cannot be '{values.get(name, '')[:100]}'"
        raise InvalidError(f"the address is wrong: {text}") from None


async def error_page(
    served: ServedProject, request: Request, error: Exception, page: AnyPage | None = None
) -> Response:
    """An error as a page; who is not logged in is sent to log in."""
    request_id = request.state.request_id
    status, message = _status_and_message(error, served.project.root)
    if status == 401 and served.settings.has_login and not _has_key(request):
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(path)}", 303)
    if status == 500:
        _LOG.error("internal error", exc_info=error, extra={"request_id": request_id})
    if isinstance(error, HTTPException) and status == 404:
        message = f"there is no page at {request.url.path[:200]}"
    title = CODES.get(status, "invalid_request").replace("_", " ").capitalize()
    context = ErrorContext(
        title=title,
        message=message,
        request_id=request_id,
        status=status,
        back=_back(request),
    )
    visitor: Identity | None = getattr(request.state, "visitor", None)
    if visitor is None and status in _OF_A_VISITOR:
        visitor = await _visitor(served, request)
    answer = _rendered(context, frame_of(served, request, page, visitor), request.headers)
    answer.headers.update(headers_of(error))
    return answer


async def _visitor(served: ServedProject, request: Request) -> Identity | None:
    """Who sees an error, and so its navigation; nobody where that is not known."""
    if _has_key(request):
        return None
    try:
        return await authenticate(served, request, is_form=True)
    except RequestError:
        return None


def _back(request: Request) -> str:
    """The page of this site that a link or form of led here, if the browser says so."""
    try:
        came = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        return HOME
    path = own_path(f"{came.path}?{came.query}" if came.query else came.path)
    is_here = came.netloc == request.headers.get("host") and path != request.url.path
    return path if is_here else HOME


def _has_key(request: Request) -> bool:
    """Whether a program sends the request, which has no use for a page to log in."""
    return "authorization" in request.headers or "x-api-key" in request.headers


def _status_and_message(error: Exception, root: Path) -> tuple[int, str]:
    if isinstance(error, ErrorReply):
        return error.status, text_from(root, error.message)
    if isinstance(error, HTTPException):
        return error.status_code, error.detail
    return status_of(error), message_of(error, root)
