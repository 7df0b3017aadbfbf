"""The body of a chat completion to a trace."""

from __future__ import annotations

from steelyard.errors import ParseError, TargetError
from steelyard.formats.json_text import parse_json, parse_json_tolerantly
from steelyard.model.json_value import JsonObject, JsonValue, no_extra
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace, Usage


def read_completion(data: bytes, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    answer = _object(data)
    if answer.get("error"):
        said = error_text(answer["error"])
        raise TargetError("bad_request", f"the endpoint answers with an error: {said}")
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise TargetError("bad_response", "the answer has no choices[0].message")
    return Trace(
        messages=(
            Message(
                role="assistant",
                content=_content(message.get("content")),
                tool_calls=_tool_calls(message.get("tool_calls")),
            ),
        ),
        usage=_usage(answer.get("usage")),
        latency_ms=round(latency_ms, 3),
        finish_reason=_text(choice.get("finish_reason")),
        refusal=_text(message.get("refusal")),
        model=_text(answer.get("model")),
        extra={"response_id": answer["id"]} if "id" in answer else no_extra(),
    )


def error_text(error: JsonValue) -> str:
    """What an endpoint says about an error."""
    said = error.get("message") if isinstance(error, dict) else error
    return str(error if said is None else said).strip()


def refusal_text(data: bytes) -> str:
    """What the body of an HTTP error says."""
    try:
        answer = _object(data)
    except TargetError:
        return data.decode("utf-8", "replace").strip()
    return error_text(answer.get("error", answer))


def _object(data: bytes) -> JsonObject:
    try:
        value = parse_json(data)
    except ParseError:
        value = _second_look(data)
    if not isinstance(value, dict):
        raise TargetError("internal_error", "the answer is no JSON object")
    return value


def _second_look(data: bytes) -> JsonValue:
    """A model that was stopped within an emoji leaves half of it, and a good answer before."""
    try:
        return parse_json_tolerantly(data).value
    except ParseError as wrong:
        raise TargetError("internal_error", f"the answer is not JSON: {wrong}") from None


def _content(content: JsonValue) -> str | None:
    """A text, or the texts of a list of parts."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TargetError("bad_response", "choices[0].message.content is neither text nor parts")
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _tool_calls(calls: JsonValue) -> tuple[ToolCall, ...]:
    made: list[ToolCall] = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            arguments = function.get("arguments")
            name = _text(function.get("name")) or ""
            made.append(ToolCall(tool=name, input=_arguments(arguments), id=_text(call.get("id"))))
    return tuple(made)


def _arguments(arguments: JsonValue) -> JsonValue:
    """Arguments come as JSON inside a string; a string that is none is kept as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_json(arguments.encode("utf-8"))
    except ParseError:
        return arguments


def _usage(usage: JsonValue) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _count(value: JsonValue) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return None


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None
