"""The body of a chat completion to a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from steelyard.errors import ParseError, TargetError
from steelyard.formats.json_fields import fields, list_field
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue, no_extra
from steelyard.model.message import Message, ToolCall
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace, Usage
from steelyard.targets.reply_json import reply_object, text


def read_completion(data: bytes, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    return _trace(reply_object(data), latency_ms)


def read_with_logprobs(data: bytes, latency_ms: float) -> Trace:
    """The same with the tokens of the answer, and what could have stood in their place."""
    answer = reply_object(data)
    trace = _trace(answer, latency_ms)
    choice = fields(list_field(answer, "choices")[0])
    tokens = list(_tokens(choice.get("logprobs")))
    return replace(trace, extra={**trace.extra, "logprobs": tokens}) if tokens else trace


def _trace(answer: JsonObject, latency_ms: float) -> Trace:
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
    return "".join(text for text in texts if isinstance(text, str))


def _tool_calls(calls: JsonValue) -> tuple[ToolCall, ...]:
    if not isinstance(calls, list):
        return ()
    made: list[ToolCall] = []
    for call in calls:
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


def _tokens(logprobs: JsonValue) -> Iterator[JsonObject]:
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    for entry in content if isinstance(content, list) else ():
        token = entry.get("token") if isinstance(entry, dict) else None
        if not isinstance(entry, dict) or not isinstance(token, str):
            return  # the tokens no longer make up the text
        others = entry.get("top_logprobs")
        listed = [entry, *others] if isinstance(others, list) else [entry]
        yield {"token": token, "logprobs": dict(_likely(listed))}


def _likely(entries: Iterable[JsonValue]) -> Iterator[tuple[str, float]]:
    for entry in entries:
        if isinstance(entry, dict):
            token, logprob = entry.get("token"), entry.get("logprob")
            if isinstance(token, str) and isinstance(logprob, int | float):
                yield token, float(logprob)


def _usage(usage: JsonValue) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input_tokens=token_count(usage.get("prompt_tokens")),
        output_tokens=token_count(usage.get("completion_tokens")),
    )
