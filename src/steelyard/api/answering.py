"""The answer of an operation to a request: made now, kept from before, or that of an error."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from anyio.to_thread import run_sync
from starlette.requests import Request
from starlette.responses import Response

from steelyard.api.access import admit
from steelyard.api.call import JsonReply, open_body, with_request_id
from steelyard.api.errors import (
    ErrorReply,
    details_of,
    error_body,
    headers_of,
    message_of,
    status_of,
)
from steelyard.api.kept_replies import KeptReply, version_of
from steelyard.api.operation import Operation
from steelyard.api.result_notes import note_shown, viewer_of
from steelyard.api.serving import ServedProject
from steelyard.api.shown_results import ShownResults
from steelyard.formats.json_fields import fields
from steelyard.formats.root_paths import text_from, value_from
from steelyard.model.access import Identity

JSON = "application/json"
_JSON_HEADER = (b"content-type", JSON.encode("ascii"))
_LOG = logging.getLogger("steelyard.api")


class JsonBytes(Response):
    """JSON that is there already, with status 200."""

    def __init__(self, body: bytes) -> None:
        # What Starlette's own does, without what depends on arguments.
        self.status_code = 200
        self.background = None
        self.body = body
        self.raw_headers = [(b"content-length", b"%d" % len(body)), _JSON_HEADER]


async def answer_request(
    served: ServedProject,
    operation: Operation[Any, Any],
    request: Request,
    kept: KeptReply[Operation[Any, Any]] | None = None,
) -> Response:
    """What is answered to whoever sends a request, if they may; in any case it is counted."""
    state: dict[str, Any] = request.scope["state"]
    state["route"] = operation.path
    request_id: str = state["request_id"]
    root = served.project.root
    try:
        identity = await admit(served, operation, request)
        if kept:
            await _note_kept(served, identity, request, kept)
            answer = JsonBytes(with_request_id(kept.body, request_id))
        else:
            answer = await _made(served, operation, request, identity)
    except Exception as error:  # noqa: BLE001 - every error has one shape
        answer = _error_answer(operation, request, error, root)
    if "answer_headers" in state:
        answer.headers.update(state["answer_headers"])
    return answer


async def _made(
    served: ServedProject, operation: Operation[Any, Any], request: Request, identity: Identity
) -> Response:
    request_id: str = request.scope["state"]["request_id"]
    if operation.is_kept:
        # From before the store is read: an answer may be newer than these say, never older.
        made_at, run = served.kept.now(), request.path_params.get("run_id")
        version = version_of(served.project.store.changes, run)
        made = await operation.answer(served, identity, request_id, request)
        assert isinstance(made, JsonReply)
        body = open_body(msgspec.json.encode(made.body))
        kept = KeptReply(
            operation=operation,
            run=run,
            version=version,
            body=body,
            shown=made.shown,
            made_at=made_at,
        )
        served.kept.keep(address_of(request.scope), kept)
        await _note_kept(served, identity, request, kept)
        return JsonBytes(with_request_id(body, request_id))
    made = await operation.answer(served, identity, request_id, request)
    if isinstance(made, JsonReply):
        await _note(served, identity, request, made.shown)
        made = Response(made.json(request_id), made.status, dict(made.headers), JSON)
    if operation.is_open:
        made.headers["access-control-allow-origin"] = "*"
    return made


def _error_answer(
    operation: Operation[Any, Any], request: Request, error: Exception, root: Path
) -> Response:
    """The answer of an error: in the form of all operations, or of the operation's protocol."""
    request_id: str = request.scope["state"]["request_id"]
    if operation.error_form:
        status, message = _logged(error, request_id, root)
        return operation.error_form.write(request, status, message, headers_of(error))
    if isinstance(error, ErrorReply):
        message = text_from(root, error.message)
        details = fields(value_from(root, error.details or {}))
        body = error_body(error.status, message, request_id, details or None)
        return Response(body, error.status, headers_of(error), JSON)
    return failed_answer(error, request_id, root)


class _Reader(NamedTuple):
    served: ServedProject
    identity: Identity


async def _note_kept(
    served: ServedProject,
    identity: Identity,
    request: Request,
    kept: KeptReply[Operation[Any, Any]],
) -> None:
    """Note whose results a kept answer shows, once for each reader."""
    person = viewer_of(_Reader(served, identity))
    if person in kept.noted_for or request.method == "HEAD":
        return
    await _note(served, identity, request, kept.shown)
    if not any(served.noted.missing(person, one) for one in kept.shown):
        kept.noted_for.add(person)


async def _note(
    served: ServedProject, identity: Identity, request: Request, shown: tuple[ShownResults, ...]
) -> None:
    """Note whose results somebody reads; nothing is written that was noted before."""
    if request.method == "HEAD":
        return  # no body is sent
    reader = _Reader(served, identity)
    if any(served.noted.missing(viewer_of(reader), one) for one in shown):
        await run_sync(lambda: note_shown(reader, *shown))


def address_of(scope: Any) -> bytes:
    """Path and query of a request, as they were sent."""
    return scope["raw_path"] + b"?" + scope["query_string"]


def failed_answer(error: Exception, request_id: str, root: Path) -> Response:
    """The answer of an exception."""
    status, message = _logged(error, request_id, root)
    body = error_body(status, message, request_id, details_of(error, root))
    return Response(body, status, headers_of(error), JSON)


def _logged(error: Exception, request_id: str, root: Path) -> tuple[int, str]:
    """The status and the message of an error; a bug is logged."""
    if isinstance(error, ErrorReply):
        return error.status, text_from(root, error.message)
    status = status_of(error)
    if status == 500:
        _LOG.error("internal error", exc_info=error, extra={"request_id": request_id})
    return status, message_of(error, root)
