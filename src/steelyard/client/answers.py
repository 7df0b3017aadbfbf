"""What a server answers as values, and its errors as exceptions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar, cast

import msgspec

from steelyard.client.connections import ServerAnswer
from steelyard.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    NotFoundError,
    SteelyardError,
    TooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
    argument,
)

Read = TypeVar("Read")
MAX_JSON = 256 * 1024 * 1024
"""The most bytes of an answer that is held in memory."""
_MAX_ERROR = 4 * 1024 * 1024
_BLOCK = 256 * 1024
_SHOWN = 120
_NAME = re.compile("[a-z_]+")

_KINDS: Mapping[int, Callable[[str], SteelyardError]] = {
    400: InvalidError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    413: TooLargeError,
    416: InvalidError,
}


class _ErrorDetail(msgspec.Struct, frozen=True):
    code: str
    message: str
    details: dict[str, Any] | None = None


class _ErrorBody(msgspec.Struct, frozen=True):
    error: _ErrorDetail
    request_id: str


def read_json(answer: ServerAnswer, kind: type[Read], where: str) -> Read:
    """The body of an answer as its type."""
    data = read_all(answer, MAX_JSON, where)
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        found = answer.headers.get("content-type", "no content type")
        what = f"its JSON is not what was expected: {wrong}"
        if "json" not in found:
            what = f"it sent {_line(found)}: {_excerpt(data)}"
        raise not_steelyard(where, what) from None


def read_all(answer: ServerAnswer, limit: int, where: str) -> bytes:
    """The whole body; one without end is refused before it fills the memory."""
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise not_steelyard(where, "its answer is compressed, which was not asked for")
    found = bytearray()
    while block := answer.read(_BLOCK):
        found += block
        if len(found) > limit:
            raise not_steelyard(where, f"its answer is larger than {limit >> 20} MB")
    return bytes(found)


def error_of(answer: ServerAnswer, where: str, request_id: str) -> SteelyardError:
    """The exception of an answer with any status but those of success."""
    status = answer.status
    if status // 100 == 3:
        to = _line(answer.headers.get("location", "elsewhere"))
        return InvalidError(
            f"{where} redirects to {to}, which is not followed: the key is for that server alone; "
            "name the address that answers itself"
        )
    try:
        data = read_all(answer, _MAX_ERROR, where)
    except InvalidError as wrong:
        return wrong
    try:
        body = msgspec.json.decode(data, type=_ErrorBody)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _foreign_error(answer, where, data)
    message = _with_arguments(body.error)
    text = f"{message} (request {_line(body.request_id or request_id)})"
    made = _exception(status, text, answer)
    made.details = body.error.details
    return made


def _with_arguments(error: _ErrorDetail) -> str:
    """The message of a server, with the names of arguments marked as in errors of our own."""
    named = (error.details or {}).get("arguments", ())
    message = error.message
    for name in cast("list[object]", named) if isinstance(named, list) else ():
        if isinstance(name, str) and _NAME.fullmatch(name):
            message = message.replace(f"`{name}`", argument(name))
    return message


def retry_after_s(answer: ServerAnswer) -> float | None:
    """How long the server asks to wait: seconds, or a date."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdecimal() and len(text) < 10:
        return float(text)
    try:
        due = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    due = due if due.tzinfo else due.replace(tzinfo=UTC)
    return max(0.0, (due - datetime.now(UTC)).total_seconds())  # noqa: TID251 - a server's date


def _exception(status: int, text: str, answer: ServerAnswer) -> SteelyardError:
    if status == 429:
        return TooManyRequestsError(text, retry_after_s=retry_after_s(answer) or 1.0)
    if status in _KINDS:
        return _KINDS[status](text)
    return UnavailableError(text) if status >= 500 else InvalidError(text)


def _foreign_error(answer: ServerAnswer, where: str, data: bytes) -> SteelyardError:
    """An error of something that stands before the server, or is none."""
    status, kind = answer.status, answer.headers.get("content-type", "")
    said = f": {_excerpt(data)}" if kind.startswith("text/plain") else ""
    if status == 429:
        return _exception(429, f"{where} answers with HTTP 429{said}", answer)
    if status >= 500:
        return UnavailableError(f"{where} answers with HTTP {status}{said}")
    return not_steelyard(where, f"it answered with HTTP {status}{said}")


def not_steelyard(where: str, what: str) -> InvalidError:
    """The error of an address where something else answers, or another version."""
    return InvalidError(f"{where} does not answer as a Steelyard server: {what}")


def _excerpt(data: bytes) -> str:
    return _line(data[: 4 * _SHOWN].decode("utf-8", "replace"))


def _line(text: str) -> str:
    """Text of another machine on one short line."""
    shown = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
