"""The body of a chat completion to a trace."""

from __future__ import annotations

from steelyard.errors import ParseError, TargetError
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonValue, no_extra
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace, Usage
from steelyard.targets.reply_json import count, reply_object, text


def read_completion(data: bytes, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    answer = reply_object(data)
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
        latency_ms=latency_ms,
        finish_reason=text(choice.get("finish_reason")),
        refusal=text(message.get("refusal")),
        model=text(answer.get("model")),
        extra={"response_id": answer["id"]} if "id" in answer else no_extra(),
    )


def _content(content: JsonValue) -> str | None:
    """A text, or the texts of a list of parts."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise TargetError("bad_response", "choices[0].message.content is neither text nor parts")
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(said for said in texts if isinstance(said, str))


def _tool_calls(calls: JsonValue) -> tuple[ToolCall, ...]:
    made: list[ToolCall] = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            arguments = function.get("arguments")
            name = text(function.get("name")) or ""
            made.append(ToolCall(tool=name, input=_arguments(arguments), id=text(call.get("id"))))
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
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
    )
