"""Errors over HTTP: which status and code each has, and the body of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from starlette.exceptions import HTTPException

from steelyard.api.command_routes import with_routes
from steelyard.api.findings import finding_bodies
from steelyard.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    RequestError,
    RequestInProgressError,
    SteelyardError,
    TooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)
from steelyard.formats.root_paths import text_from, value_from
from steelyard.model.finding import RefusedFileError
from steelyard.model.json_value import JsonObject

CODES: dict[int, str] = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "timeout",
    409: "conflict",
    410: "gone",
    413: "payload_too_large",
    416: "range_not_satisfiable",
    429: "rate_limited",
    500: "internal_error",
    503: "service_unavailable",
}

MEANINGS: dict[int, str] = {
    400: "the address, query, headers or body are wrong",
    401: "no valid credentials",
    403: "not allowed to the caller, for this host name, or from a page of another site",
    404: "there is nothing of that name",
    405: "the address exists, not this method",
    408: "the request came too slowly",
    409: "it does not fit what is there by now",
    410: "it was pruned",
    413: "the body is too large",
    416: "the range is outside of the file",
    429: "too many requests; see `Retry-After`",
    500: "a bug; the log has the details under the request id",
    503: "the store, its disk or the spool cannot be used now; try again later",
}
"""When each status is answered; docs/http.md says the same."""

# The status of an error by its class; the first match wins.
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (GoneError, 410),
    (NotFoundError, 404),
    (ConflictError, 409),
    (UnauthorizedError, 401),
    (ForbiddenError, 403),
    (TooLargeError, 413),
    (TooManyRequestsError, 429),
    (RequestError, 400),
    (UnavailableError, 503),
)


class ErrorDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong with a request."""

    code: str
    """The kind of error, one for each status."""
    message: str
    """What is wrong, where, and what would be right."""
    details: dict[str, Any] | None = None
    """More for programs: `arguments`, `findings`, or the scopes that are missing."""


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error."""

    error: ErrorDetail
    request_id: str
    """The id of the request, under which the log has more."""


@dataclass(kw_only=True, eq=False)
class ErrorReply(Exception):  # noqa: N818 - an answer that is raised, not a failure of its own
    """An error that an operation answers with details or headers of its own."""

    status: int
    message: str
    details: JsonObject | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def status_of(error: Exception) -> int:
    """The status of an error; 500 for one that nobody raises on purpose."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def headers_of(error: Exception) -> dict[str, str]:
    """The headers that the answer of an error has, as JSON or as a page."""
    if isinstance(error, ErrorReply):
        return dict(error.headers)
    if isinstance(error, HTTPException):
        return dict(error.headers or {})
    if isinstance(error, TooManyRequestsError):
        wait_s = str(max(1, math.ceil(error.retry_after_s)))
        return {
            "retry-after": wait_s,
            "x-ratelimit-reset": wait_s,
            "x-ratelimit-limit": str(error.limit or 0),
            "x-ratelimit-remaining": "0",
        }
    if isinstance(error, RequestInProgressError):
        return {"retry-after": "1"}
    return {"www-authenticate": "Bearer"} if status_of(error) == 401 else {}


def message_of(error: Exception, root: Path) -> str:
    """The message of an error, with paths from the project's root on; a bug's is in the log."""
    if isinstance(error, SteelyardError):
        return text_from(root, str(error))
    return "this is a bug of the server; its log has the details under this request id"


def details_of(error: Exception, root: Path) -> JsonObject | None:
    """The findings behind an error, and the arguments that its message names, if any."""
    if not isinstance(error, SteelyardError):
        return None
    details = dict(error.details or {})
    if error.arguments:
        details["arguments"] = list(error.arguments)
    if isinstance(error, RefusedFileError):
        found = msgspec.to_builtins(finding_bodies(error.findings))
        details["findings"] = value_from(root, found)
    return details or None


def error_body(
    status: int, message: str, request_id: str, details: JsonObject | None = None
) -> bytes:
    """The envelope of an error."""
    detail = ErrorDetail(CODES[status], with_routes(message), details)
    return msgspec.json.encode(ErrorBody(detail, request_id))
