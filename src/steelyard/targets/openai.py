"""`openai`: any endpoint that speaks the chat-completions protocol."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from steelyard.errors import ParseError, TargetError
from steelyard.formats.json_fields import fields, list_field
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue, no_extra
from steelyard.model.message import ImageBlock, Message, ToolCall
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Clock, Judged, Request, ToolUse, Turn
from steelyard.targets.chat_stream import ASKED as STREAMED
from steelyard.targets.chat_stream import CHAT_STREAM
from steelyard.targets.error_codes import require_unbroken
from steelyard.targets.event_stream import reading
from steelyard.targets.extra_body import merged
from steelyard.targets.http_calls import HttpCalls
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.reply_json import reply_object, text
from steelyard.targets.request_json import messages_of, request_bytes
from steelyard.targets.token_limit import TokenLimit
from steelyard.targets.tool_forms import chat_tool

TOP_LOGPROBS = 20
"""The most that the protocol allows."""


class OpenAITarget:
    """Asks `POST {base_url}/chat/completions`."""

    def __init__(self, name: str, settings: ModelSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        url = settings.base_url.rstrip("/") + "/chat/completions"
        key = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._stream = CHAT_STREAM if settings.stream else None
        http = settings.http(url, {**settings.own_headers, **key})
        self._calls = HttpCalls(http, clock, self._stream)
        self._read = reading(trace_of_completion, self._stream)
        self._read_tokens = reading(trace_with_logprobs, self._stream)
        self._limit = TokenLimit(url, settings.model)
        self._fixed = self._limit.named(settings.fixed(chat_tool))
        self._query = settings.query_text

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return self._settings.described("openai")

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        judged = request.judged
        read = self._read_tokens if judged and judged.wants_logprobs else self._read
        sent = self._fixed
        try:
            return await self._calls.ask(self._body(request), read, self._query)
        except TargetError as error:
            adapted = self._limit.refused(sent, error)
            if adapted is None:
                raise
            self._fixed = self._limit.named(self._fixed)
            raise adapted from None

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    def _body(self, request: Request) -> bytes:
        turns = request.prompt.turns
        messages = _openai_messages(turns) if turns else messages_of(request)
        more = _judged(request.judged) if request.judged else {}
        body: JsonObject = {
            "model": self._settings.model,
            "messages": cast(list[JsonValue], messages),
            **self._fixed,
            **(STREAMED if self._stream else {}),
            **more,
        }
        return request_bytes(merged(self._settings.extra, body) if self._settings.extra else body)


def _judged(judged: Judged) -> JsonObject:
    """What a call to a judge asks for beside the prompt."""
    asked: JsonObject = {}
    if judged.is_held:
        shape: JsonObject = {"name": "answer", "strict": True, "schema": judged.schema}
        asked["response_format"] = {"type": "json_schema", "json_schema": shape}
    if judged.wants_logprobs:
        asked.update({"logprobs": True, "top_logprobs": TOP_LOGPROBS})
    return asked


def _openai_messages(turns: Sequence[Turn]) -> list[JsonObject]:
    """The messages of a conversation; each result of a tool is one of its own."""
    return [message for turn in turns for message in _messages(turn)]


def _messages(turn: Turn) -> Iterator[JsonObject]:
    message: JsonObject = {"role": turn.role, "content": _turn_content(turn)}
    if turn.tools:
        message["tool_calls"] = [_call(used) for used in turn.tools]
    yield message
    for used in turn.tools:
        yield {"role": "tool", "tool_call_id": used.id, "content": used.result}


def _turn_content(turn: Turn) -> JsonValue:
    """A text alone as it is; parts where there is an image, and nothing beside calls alone."""
    if not any(isinstance(part, ImageBlock) for part in turn.parts):
        return cast("str | None", turn.parts[0]) if turn.parts else None
    return [
        _image_part(part) if isinstance(part, ImageBlock) else {"type": "text", "text": part}
        for part in turn.parts
    ]


def _image_part(image: ImageBlock) -> JsonObject:
    """An image by its address, or with its bytes in one."""
    shown: JsonObject = {"url": image_address(image)}
    if image.detail:
        shown["detail"] = image.detail
    return {"type": "image_url", "image_url": shown}


def image_address(image: ImageBlock) -> str:
    """Where an image is, or an address that holds it."""
    return (
        image.url
        or f"data:{image.media_type};base64,{base64.b64encode(image.content).decode('ascii')}"
    )


def _call(used: ToolUse) -> JsonObject:
    function: JsonObject = {"name": used.tool, "arguments": arguments_text(used)}
    return {"id": used.id, "type": "function", "function": function}


def arguments_text(used: ToolUse) -> str:
    """What went into a call, as the JSON that a model writes."""
    given = used.input
    return given if isinstance(given, str) else json.dumps({} if given is None else given)


def read_completion(data: bytes, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    return trace_of_completion(reply_object(data), latency_ms)


def trace_with_logprobs(answer: JsonObject, latency_ms: float) -> Trace:
    """The same with the tokens of the answer, and what could have stood in their place."""
    trace = trace_of_completion(answer, latency_ms)
    choice = fields(list_field(answer, "choices")[0])
    tokens = list(likely_tokens(choice.get("logprobs")))
    return replace(trace, extra={**trace.extra, "logprobs": tokens}) if tokens else trace


def trace_of_completion(answer: JsonObject, latency_ms: float) -> Trace:
    """The trace of an answer that came whole, at once or as a stream."""
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict):
        require_unbroken(choice)
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
    if not isinstance(calls, list):
        return ()
    made: list[ToolCall] = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(call, dict) and isinstance(function, dict):
            arguments = function.get("arguments")
            name = text(function.get("name")) or ""
            made.append(
                ToolCall(tool=name, input=arguments_of(arguments), id=text(call.get("id")))
            )
    return tuple(made)


def arguments_of(arguments: JsonValue) -> JsonValue:
    """Arguments come as JSON inside a string; a string that is none is kept as it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_json(arguments.encode("utf-8"))
    except ParseError:
        return arguments


def likely_tokens(logprobs: JsonValue) -> Iterator[JsonObject]:
    """Each token of an answer with the logarithms of what could have stood in its place."""
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
    asked = token_count(usage.get("prompt_tokens"))
    said = token_count(usage.get("completion_tokens"))
    total = token_count(usage.get("total_tokens"))
    if asked is not None and said is not None and total is not None:
        # Gemini and others count what a model thinks in the total alone, and charge for it.
        said = max(said, total - asked)
    return Usage(input_tokens=asked, output_tokens=said)
