"""Errors over HTTP: which status and code each has, and the body of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from steelyard.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    NotFoundError,
    RequestError,
    SteelyardError,
    TooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)
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
    message: str
    details: dict[str, Any] | None = None


class ErrorBody(msgspec.Struct, frozen=True):
    """The body of every error."""

    error: ErrorDetail
    request_id: str


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


def message_of(error: Exception) -> str:
    """The message of an error; that of a bug stays in the log."""
    if isinstance(error, SteelyardError):
        return str(error)
    return "this is a bug of the server; its log has the details under this request id"


def error_body(
    status: int, message: str, request_id: str, details: JsonObject | None = None
) -> bytes:
    """The envelope of an error."""
    detail = ErrorDetail(CODES[status], message, details)
    return msgspec.json.encode(ErrorBody(detail, request_id))
