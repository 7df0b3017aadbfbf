"""Answers of model endpoints as the server-sent events that a stream of each has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from aiohttp import web

from servers.openai_server import Answer

Events: TypeAlias = list[tuple[str, Any]]
"""The name of each event, where it has one, and its data."""
Slice: TypeAlias = Callable[[str], Sequence[str]]
"""Cuts a text into the pieces that come one by one."""
DONE = ("", "[DONE]")


def words(text: str) -> list[str]:
    """A text in pieces of a few characters."""
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def chat_events(completion: dict[str, Any], cut: Slice = words) -> Events:
    """A completion in chunks, with its tokens counted in the last one."""
    choice = completion["choices"][0]
    message = choice["message"]
    head = {name: completion[name] for name in ("id", "model") if name in completion}

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> tuple[str, Any]:
        one = {"index": 0, "delta": delta, "finish_reason": finish, **more}
        return "", {**head, "object": "chat.completion.chunk", "choices": [one], "usage": None}

    events = [chunk({"role": "assistant", "content": None if message["content"] is None else ""})]
    events += [chunk({"content": piece}) for piece in cut(message["content"] or "")]
    events += [chunk({"refusal": piece}) for piece in cut(message.get("refusal") or "")]
    for index, call in enumerate(message.get("tool_calls", [])):
        function = {"name": call["function"]["name"], "arguments": ""}
        first = {"index": index, "id": call["id"], "type": "function", "function": function}
        events.append(chunk({"tool_calls": [first]}))
        for piece in cut(call["function"]["arguments"]):
            events.append(
                chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            )
    tokens: list[Any] = choice["logprobs"]["content"] if "logprobs" in choice else []
    for token in tokens:
        events.append(chunk({}, logprobs={"content": [token]}))
    events.append(chunk({}, choice["finish_reason"]))
    if "usage" in completion:
        events.append(("", {**head, "choices": [], "usage": completion["usage"]}))
    return [*events, DONE]


def message_events(message: dict[str, Any], cut: Slice = words) -> Events:
    """A message of Anthropic's protocol, block by block."""
    before = {**message["usage"], "output_tokens": 1}
    start: dict[str, Any] = {**message, "content": [], "stop_reason": None, "usage": before}
    events: Events = [("message_start", {"message": start}), ("ping", {})]
    for index, block in enumerate(message["content"]):
        opened, deltas = _block(block, cut)
        events.append(("content_block_start", {"index": index, "content_block": opened}))
        events += [("content_block_delta", {"index": index, "delta": delta}) for delta in deltas]
        events.append(("content_block_stop", {"index": index}))
    names = ("stop_reason", "stop_sequence", "stop_details")
    ended = {name: message[name] for name in names if name in message}
    counted = {"output_tokens": message["usage"]["output_tokens"]}
    events.append(("message_delta", {"delta": ended, "usage": counted}))
    events.append(("message_stop", {}))
    return [(name, {"type": name, **data}) for name, data in events]


def _block(block: dict[str, Any], cut: Slice) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a block begins, and what is added to it."""
    if block["type"] == "tool_use":
        pieces = cut(json.dumps(block["input"])) if block["input"] else [""]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        return {**block, "input": {}}, deltas
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": said} for said in cut(block["thinking"])]
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {**block, "thinking": "", "signature": ""}, [*deltas, signed]
    if block["type"] == "text":
        said = [{"type": "text_delta", "text": piece} for piece in cut(block["text"])]
        return {**block, "text": ""}, said
    return block, []


def written(events: Events, line: str = "\n") -> bytes:
    """The bytes of a stream, with comments between events as proxies send them."""
    return "".join(_lines(events, line)).encode("utf-8")


def _lines(events: Events, line: str) -> Iterator[str]:
    yield f": connected{line}{line}"
    for name, data in events:
        if name:
            yield f"event: {name}{line}"
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        yield f"data: {text}{line}{line}"


def streams(data: bytes, *, is_cut: bool = False, cut_after: int | None = None) -> Answer:
    """Bytes as a stream of events; one that is cut off ends without the end of its framing."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        if request.headers.get("accept-encoding") != "identity":
            response.enable_compression()
        await response.prepare(request)
        await response.write(data[:cut_after])
        if is_cut:
            assert request.transport
            request.transport.close()
        return response

    return answer
