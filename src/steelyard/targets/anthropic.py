"""`anthropic`: endpoints that speak Anthropic's messages protocol."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import cast

from steelyard.errors import ParseError, TargetError
from steelyard.formats.json_fields import object_list
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ImageBlock, Message, ToolCall
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace, Usage
from steelyard.ports import Clock, Prompt, Request, ToolUse, Turn
from steelyard.targets.event_stream import reading
from steelyard.targets.extra_body import merged
from steelyard.targets.http_calls import HttpCalls
from steelyard.targets.message_stream import MESSAGE_STREAM
from steelyard.targets.model_settings import ModelSettings
from steelyard.targets.reply_json import text
from steelyard.targets.request_json import request_bytes
from steelyard.targets.tool_forms import anthropic_tool

_KNOWN_BLOCKS = {"text", "tool_use"}
_COUNTED = {"input_tokens", "output_tokens"}

DEFAULTS: JsonObject = {"base_url": "https://api.anthropic.com", "max_new_tokens": 1024}
"""Settings that hold where the project file has none; the protocol demands a limit of tokens."""
OPENING = "(The assistant speaks first.)"
"""The protocol demands that a conversation begins with the user."""
_VERSION = "2023-06-01"


class AnthropicTarget:
    """Asks `POST {base_url}/v1/messages`."""

    def __init__(self, name: str, settings: ModelSettings, clock: Clock) -> None:
        self.name = name
        self._settings = settings
        url = settings.base_url.rstrip("/").removesuffix("/v1") + "/v1/messages"
        key = {"x-api-key": settings.api_key} if settings.api_key else {}
        headers = {"anthropic-version": _VERSION, **settings.own_headers, **key}
        stream = MESSAGE_STREAM if settings.stream else None
        self._calls = HttpCalls(settings.http(url, headers), clock, stream)
        self._read = reading(trace_of_message, stream)
        self._fixed, self._query = settings.fixed(anthropic_tool), settings.query_text
        if stream:
            self._fixed["stream"] = True

    def described(self) -> JsonObject:
        """Its settings, without key and header values."""
        return self._settings.described("anthropic")

    async def ask(self, request: Request) -> Trace:
        """One call; every way in which it can fail has an error code."""
        body = {
            "model": self._settings.model,
            **conversation(request.prompt),
            **self._fixed,
        }
        body |= called_tools(request.prompt.turns, body)
        if request.judged and request.judged.is_held:
            shape: JsonObject = {"type": "json_schema", "schema": request.judged.schema}
            body["output_config"] = {"format": shape}
        body = merged(self._settings.extra, body) if self._settings.extra else body
        return await self._calls.ask(request_bytes(body), self._read, self._query)

    async def close(self) -> None:
        """Close the connections."""
        await self._calls.close()


def conversation(prompt: Prompt) -> JsonObject:
    """`system` and `messages` as the protocol demands them.

    System messages stand apart, turns of one role in a row become one, the user speaks first.
    """
    if prompt.turns:
        return _with_blocks(prompt)
    system = _system(prompt.messages)
    turns = _turns([(role, text) for role, text in prompt.messages if role != "system"])
    if not turns:
        system, turns = "", [("user", system)]
    if turns[0][0] != "user":
        turns.insert(0, ("user", OPENING))
    return _body([{"role": role, "content": text} for role, text in turns], system)


def _with_blocks(prompt: Prompt) -> JsonObject:
    """The same where there is more than text; a later system message is the system's, too."""
    turns = _spoken_blocks(prompt.turns)
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", [{"type": "text", "text": OPENING}]))
    messages: list[JsonObject] = [
        {"role": role, "content": cast(list[JsonValue], blocks)} for role, blocks in turns
    ]
    return _body(messages, _system(prompt.messages))


def _system(messages: tuple[tuple[str, str], ...]) -> str:
    return "\n\n".join(text for role, text in messages if role == "system")


def _body(messages: list[JsonObject], system: str) -> JsonObject:
    spoken: JsonObject = {"messages": cast(list[JsonValue], messages)}
    return {"system": system, **spoken} if system else spoken


def _turns(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    turns: list[tuple[str, str]] = []
    for role, said in messages:
        if turns and turns[-1][0] == role:
            turns[-1] = (role, f"{turns[-1][1]}\n\n{said}")
        else:
            turns.append((role, said))
    return turns


def trace_of_message(answer: JsonObject, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    content = answer.get("content")
    if not isinstance(content, list):
        raise TargetError("bad_response", "the answer has no list 'content'")
    blocks = [block for block in content if isinstance(block, dict)]
    if not all(isinstance(block.get("type", ""), str) for block in blocks):
        raise TargetError("bad_response", "the type of a block in 'content' is not a text")
    said = _said(blocks)
    return Trace(
        messages=(Message(role="assistant", content=said, tool_calls=_tool_calls(blocks)),),
        usage=_usage(answer.get("usage")),
        latency_ms=latency_ms,
        finish_reason=text(answer.get("stop_reason")),
        refusal=_refusal(answer, said),
        model=text(answer.get("model")),
        extra=_extra(answer, blocks),
    )


def _said(blocks: list[JsonObject]) -> str | None:
    """One text may come in several blocks, cut wherever a citation begins."""
    texts = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    return "".join(part for part in texts if part) if texts else None


def _tool_calls(blocks: list[JsonObject]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            tool=text(block.get("name")) or "", input=block.get("input"), id=text(block.get("id"))
        )
        for block in blocks
        if block.get("type") == "tool_use"
    )


def _refusal(answer: JsonObject, said: str | None) -> str | None:
    """Why the model refuses, in the best words that there are."""
    if answer.get("stop_reason") != "refusal":
        return None
    details = answer.get("stop_details")
    reason = text(details.get("explanation")) if isinstance(details, dict) else None
    return reason or said or "refusal"


def _usage(usage: JsonValue) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input_tokens=token_count(usage.get("input_tokens")),
        output_tokens=token_count(usage.get("output_tokens")),
        extra={
            name: value
            for name, value in usage.items()
            if name not in _COUNTED and value is not None
        },
    )


def _extra(answer: JsonObject, blocks: list[JsonObject]) -> JsonObject:
    """What else there is: the id, details of a stop, and blocks such as thinking."""
    others: list[JsonValue] = [block for block in blocks if block.get("type") not in _KNOWN_BLOCKS]
    found: JsonObject = {
        "response_id": answer.get("id"),
        "stop_sequence": answer.get("stop_sequence"),
        "stop_details": answer.get("stop_details"),
        "other_blocks": others or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _spoken_blocks(turns: Sequence[Turn]) -> list[tuple[str, list[JsonObject]]]:
    """Who says which blocks: turns of one role in a row are one, and the user gives results."""
    said: list[tuple[str, list[JsonObject]]] = []
    for role, blocks in _spoken(turns):
        if said and said[-1][0] == role:
            said[-1][1].extend(blocks)
        else:
            said.append((role, blocks))
    return said


def called_tools(turns: Sequence[Turn], body: JsonObject) -> JsonObject:
    """`tools` with each that the conversation has called: the protocol demands their definitions.

    Those that the body defines stay; of the others nothing is known but their names. Where all
    are of that kind, none may be called again.
    """
    given = object_list(body, "tools")
    known = {str(tool.get("name")) for tool in given}
    called = dict.fromkeys(used.tool for turn in turns for used in turn.tools)
    made: list[JsonValue] = [
        {"name": name, "input_schema": {"type": "object"}} for name in called if name not in known
    ]
    if not made:
        return {}
    choice: JsonObject = {} if given else {"tool_choice": {"type": "none"}}
    return {"tools": [*given, *made], **choice}


def _spoken(turns: Sequence[Turn]) -> Iterator[tuple[str, list[JsonObject]]]:
    for turn in turns:
        if turn.role == "system":
            continue
        yield turn.role, [*map(_block, turn.parts), *map(_use, turn.tools)]
        if turn.tools:
            yield "user", [_result(used) for used in turn.tools]


def _block(part: str | ImageBlock) -> JsonObject:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if part.url:
        return {"type": "image", "source": {"type": "url", "url": part.url}}
    source: JsonObject = {
        "type": "base64",
        "media_type": part.media_type,
        "data": base64.b64encode(part.content).decode("ascii"),
    }
    return {"type": "image", "source": source}


def _use(used: ToolUse) -> JsonObject:
    return {"type": "tool_use", "id": used.id, "name": used.tool, "input": _object(used.input)}


def _result(used: ToolUse) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": used.id, "content": used.result}


def _object(given: JsonValue) -> JsonObject:
    """What went into a call; the protocol has objects alone."""
    if isinstance(given, str):
        try:
            given = parse_json(given.encode("utf-8", "surrogatepass"))
        except ParseError:
            return {"input": given}
    if isinstance(given, dict):
        return given
    return {} if given is None else {"input": given}
