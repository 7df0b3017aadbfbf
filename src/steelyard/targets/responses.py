"""`openai` with `api: responses`: any endpoint that speaks the Responses protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ImageBlock, Message, ToolCall
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Clock, Judged, Request, Turn
from steelyard.targets.error_codes import LATE, reported_error
from steelyard.targets.event_stream import EventStream, inner, inner_list, reading
from steelyard.targets.extra_body import merged
from steelyard.targets.http_calls import HttpCalls
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.openai import (
    TOP_LOGPROBS,
    arguments_of,
    arguments_text,
    image_address,
    likely_tokens,
)
from steelyard.targets.reply_json import text
from steelyard.targets.request_json import messages_of, request_bytes
from steelyard.targets.tool_forms import responses_tool

_KEPT: JsonObject = {"store": False}
"""Endpoints would keep every answer otherwise; `extra` may say so."""
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
"""The items that call a tool, with what goes into it."""
_STOPPED = {"max_output_tokens": "length"}
"""In the words of chat completions."""
_ENDED = {"completed", "incomplete", None}
_COUNTED = {"input_tokens", "output_tokens", "total_tokens"}


class ResponsesTarget:
    """Asks `POST {base_url}/responses`."""

    def __init__(self, name: str, settings: ModelSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        self._stream = RESPONSE_STREAM if settings.stream else None
        key = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        url = settings.base_url.rstrip("/") + "/responses"
        http = settings.http(url, {**settings.own_headers, **key})
        self._calls = HttpCalls(http, clock, self._stream)
        self._read = reading(trace_of_response, self._stream)
        self._read_tokens = reading(trace_with_logprobs, self._stream)
        self._query, self._fixed = settings.query_text, settings.fixed(responses_tool)
        if "response_format" in self._fixed:
            shape = inner(self._fixed, "response_format")
            self._fixed["text"] = {"format": _flat(shape)}
            del self._fixed["response_format"]

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return {**self._settings.described("openai"), "api": "responses"}

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        judged = request.judged
        read = self._read_tokens if judged and judged.wants_logprobs else self._read
        return await self._calls.ask(self._body(request), read, self._query)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()

    def _body(self, request: Request) -> bytes:
        turns = request.prompt.turns
        items = _items(turns) if turns else messages_of(request)
        body: JsonObject = {
            "model": self._settings.model,
            "input": cast(list[JsonValue], items),
            **self._fixed,
            **({"stream": True} if self._stream else {}),
            **(_judged(request.judged) if request.judged else {}),
        }
        return request_bytes(merged({**_KEPT, **self._settings.extra}, body))


def _judged(judged: Judged) -> JsonObject:
    """What a call to a judge asks for beside the prompt."""
    asked: JsonObject = {}
    if judged.is_held:
        shape: JsonObject = {"name": "answer", "strict": True, "schema": judged.schema}
        asked["text"] = {"format": {"type": "json_schema", **shape}}
    if judged.wants_logprobs:
        included: list[JsonValue] = ["message.output_text.logprobs"]
        asked.update({"include": included, "top_logprobs": TOP_LOGPROBS})
    return asked


def _flat(shape: JsonObject) -> JsonObject:
    """A response format of chat completions as this protocol has it."""
    rest = {name: value for name, value in shape.items() if name != "json_schema"}
    return {**rest, **inner(shape, "json_schema")}


def _items(turns: Sequence[Turn]) -> list[JsonObject]:
    """A conversation; each call of a tool and each result is an item of its own."""
    return [item for turn in turns for item in _items_of(turn)]


def _items_of(turn: Turn) -> Iterator[JsonObject]:
    if turn.parts:
        yield {"role": turn.role, "content": _content(turn)}
    for used in turn.tools:
        call: JsonObject = {"call_id": used.id, "name": used.tool}
        yield {"type": "function_call", **call, "arguments": arguments_text(used)}
    for used in turn.tools:
        yield {"type": "function_call_output", "call_id": used.id, "output": used.result}


def _content(turn: Turn) -> JsonValue:
    """A text alone as it is; parts where there is an image."""
    if len(turn.parts) == 1 and isinstance(turn.parts[0], str):
        return turn.parts[0]
    kind = "output_text" if turn.role == "assistant" else "input_text"
    return [
        _image_part(part) if isinstance(part, ImageBlock) else {"type": kind, "text": part}
        for part in turn.parts
    ]


def _image_part(image: ImageBlock) -> JsonObject:
    shown: JsonObject = {"type": "input_image", "image_url": image_address(image)}
    return {**shown, "detail": image.detail} if image.detail else shown


def trace_with_logprobs(answer: JsonObject, latency_ms: float) -> Trace:
    """The same with the tokens of the answer, and what could have stood in their place."""
    trace = trace_of_response(answer, latency_ms)
    found = [token for part in _parts(answer) for token in inner_list(part, "logprobs")]
    tokens = list(likely_tokens({"content": cast(list[JsonValue], found)}))
    return replace(trace, extra={**trace.extra, "logprobs": tokens}) if tokens else trace


def trace_of_response(answer: JsonObject, latency_ms: float) -> Trace:
    """The trace of an answer that came whole, at once or as a stream."""
    if not isinstance(answer.get("output"), list):
        raise TargetError("bad_response", "the answer has no list 'output'")
    if answer.get("status") not in _ENDED:
        raise TargetError("bad_response", f"the answer is '{answer['status']}', not completed")
    calls = tuple(_tool_calls(answer))
    message = Message(role="assistant", content=_said(answer, "text"), tool_calls=calls)
    return Trace(
        messages=(message,),
        usage=_usage(inner(answer, "usage")),
        latency_ms=latency_ms,
        finish_reason=_finish_reason(answer, is_calling=bool(calls)),
        refusal=_said(answer, "refusal"),
        model=text(answer.get("model")),
        extra=_extra(answer),
    )


def _parts(answer: JsonObject) -> Iterator[JsonObject]:
    """The parts of all messages of an answer."""
    for item in inner_list(answer, "output"):
        if item.get("type") == "message":
            yield from inner_list(item, "content")


def _said(answer: JsonObject, name: str) -> str | None:
    """The text, or the refusal, of all messages; None where there is none."""
    texts = [said for part in _parts(answer) if (said := text(part.get(name))) is not None]
    return "".join(texts) if texts else None


def _tool_calls(answer: JsonObject) -> Iterator[ToolCall]:
    for item in inner_list(answer, "output"):
        given = _CALLS.get(text(item.get("type")) or "")
        if given == "input":
            made = item.get(given)
        elif given:
            made = arguments_of(item.get(given))
        else:
            continue
        name = text(item.get("name")) or ""
        yield ToolCall(tool=name, input=made, id=text(item.get("call_id")))


def _finish_reason(answer: JsonObject, *, is_calling: bool) -> str | None:
    """Why the model stopped, in the words of chat completions."""
    if answer.get("status") == "incomplete":
        reason = text(inner(answer, "incomplete_details").get("reason"))
        return _STOPPED.get(reason or "", reason or "incomplete")
    return "tool_calls" if is_calling else "stop"


def _usage(usage: JsonObject) -> Usage:
    return Usage(
        input_tokens=token_count(usage.get("input_tokens")),
        output_tokens=token_count(usage.get("output_tokens")),
        extra={
            name: value
            for name, value in usage.items()
            if name not in _COUNTED and value is not None
        },
    )


def _extra(answer: JsonObject) -> JsonObject:
    """What else there is: the id, and items such as reasoning or a search of the endpoint."""
    known = {"message", *_CALLS}
    others: list[JsonValue] = [
        item for item in inner_list(answer, "output") if item.get("type") not in known
    ]
    found: JsonObject = {"response_id": answer.get("id"), "other_items": others or None}
    return {name: value for name, value in found.items() if value is not None}


def begins(event: JsonObject) -> bool:
    """Whether an event has a text, a thought, a refusal or a call in it."""
    kind = text(event.get("type")) or ""
    if kind == "response.output_item.added":
        return inner(event, "item").get("type") in _CALLS
    return kind.endswith(".delta") and bool(event.get("delta"))


def assembled(events: Iterator[JsonObject]) -> JsonObject | None:
    """The response that the last event holds; None where that is missing."""
    items: list[JsonValue] = []
    for event in events:
        kind = text(event.get("type")) or ""
        if kind == "error" or event.get("error"):
            raise reported_error(event.get("error") or event, LATE)
        if kind == "response.output_item.done":
            items.append(event.get("item"))
        if kind == "response.failed":
            raise reported_error(inner(event, "response").get("error"), LATE)
        if kind in {"response.completed", "response.incomplete"}:
            response = inner(event, "response")
            return response if response.get("output") else {**response, "output": items}
    return None


RESPONSE_STREAM = EventStream(begins=begins, assembled=assembled)
