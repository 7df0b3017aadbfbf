"""The codes of failed calls, by the status of an answer or by the error in its body."""

from __future__ import annotations

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue

LATE = "internal_error"
"""A model failed whose endpoint had begun to answer: the request itself was accepted."""
_STATUS_CODES = {
    408: "timeout",
    504: "timeout",
    429: "rate_limited",
    502: "service_unavailable",
    503: "service_unavailable",
    529: "service_unavailable",
    401: "unauthorized",
    407: "unauthorized",
    403: "forbidden",
    404: "not_found",
}
_NAMED = {
    "api_error": LATE,
    "server_error": LATE,
    "overloaded_error": "service_unavailable",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "timeout_error": "timeout",
    "authentication_error": "unauthorized",
    "permission_error": "forbidden",
    "not_found_error": "not_found",
}


def status_code(status: int) -> str:
    """The code of a status that is no success."""
    return _STATUS_CODES.get(status) or ("internal_error" if status >= 500 else "bad_request")


def reported_error(error: JsonValue, otherwise: str) -> TargetError:
    """The error that an endpoint calls its answer, by its name or number where one is known."""
    message = f"the endpoint answers with an error: {error_text(error)}"
    told = [error.get("code"), error.get("type")] if isinstance(error, dict) else []
    codes = (_code_of(name) for name in told)
    return TargetError(next(filter(None, codes), otherwise), message)


def require_unbroken(choice: JsonObject) -> None:
    """Raise where an endpoint says that a model failed within its answer."""
    if choice.get("error") or choice.get("finish_reason") == "error":
        raise reported_error(choice.get("error") or "finish_reason is 'error'", LATE)


def _code_of(name: JsonValue) -> str | None:
    """The code of an error by its name, or by the status that is its number."""
    if isinstance(name, str) and not name.isdecimal():
        return _NAMED.get(name) or ("bad_request" if name.startswith("invalid") else None)
    status = int(name) if isinstance(name, str | int) else 0
    return status_code(status) if 400 <= status < 600 else None


def error_text(error: JsonValue) -> str:
    """What the error of a body says."""
    message = error.get("message") if isinstance(error, dict) else error
    return str(error if message is None else message).strip()
