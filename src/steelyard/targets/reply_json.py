"""The JSON that an endpoint answers with, and what it says where it refuses."""

from __future__ import annotations

from steelyard.errors import ParseError, TargetError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.targets.error_codes import error_text, reported_error


def reply_value(data: bytes) -> JsonValue:
    """The value of a body, which must be JSON; a byte order mark before it is ignored."""
    data = without_bom(data)
    try:
        return parse_json(data)
    except ParseError:
        return _second_look(data)


def reply_object(data: bytes) -> JsonObject:
    """The object of a body that reports no error."""
    answer = _object(data)
    require_no_error(answer)
    return answer


def require_no_error(answer: JsonValue) -> None:
    """Raise when an endpoint calls its error an answer."""
    if isinstance(answer, dict) and answer.get("error"):
        raise reported_error(answer["error"], "bad_request")


def refusal_text(data: bytes) -> str:
    """What the body of an HTTP error says."""
    try:
        answer = reply_value(data)
    except TargetError:
        answer = None
    if isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    if not isinstance(answer, dict):
        return data.decode("utf-8", "replace").strip()
    return error_text(answer.get("error", answer))


def require_text(data: bytes, code: str, what: str, advice: str) -> None:
    """Refuse bytes that are no text, and say from which place on."""
    try:
        require_utf8(data)
    except ParseError as wrong:
        fault = str(wrong).partition(";")[0]
        raise TargetError(code, f"{what} is {fault}; {advice}") from None


def text(value: JsonValue) -> str | None:
    """A text; anything else is unknown."""
    return value if isinstance(value, str) else None


def _object(data: bytes) -> JsonObject:
    value = reply_value(data)
    if not isinstance(value, dict):
        raise TargetError("internal_error", "the answer is no JSON object")
    return value


def _second_look(data: bytes) -> JsonValue:
    """A model that was stopped within an emoji leaves half of it, and a good answer before."""
    try:
        return parse_json_tolerantly(data).value
    except ParseError as wrong:
        require_text(data, "internal_error", "the answer", "have the endpoint send JSON in UTF-8")
        raise TargetError("internal_error", f"the answer is not JSON: {wrong}") from None
