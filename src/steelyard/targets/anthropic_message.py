"""The body of a message of Anthropic's protocol to a trace."""

from __future__ import annotations

from steelyard.errors import TargetError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import Message, ToolCall
from steelyard.model.plausible import token_count
from steelyard.model.trace import Trace, Usage
from steelyard.targets.reply_json import reply_object, text

_KNOWN_BLOCKS = {"text", "tool_use"}
_COUNTED = {"input_tokens", "output_tokens"}


def read_message(data: bytes, latency_ms: float) -> Trace:
    """The trace of an answer, or the error that it stands for."""
    answer = reply_object(data)
    content = answer.get("content")
    if not isinstance(content, list):
        raise TargetError("bad_response", "the answer has no list 'content'")
    blocks = [block for block in content if isinstance(block, dict)]
    answered = _text(blocks)
    return Trace(
        messages=(Message(role="assistant", content=answered, tool_calls=_tool_calls(blocks)),),
        usage=_usage(answer.get("usage")),
        latency_ms=latency_ms,
        finish_reason=text(answer.get("stop_reason")),
        refusal=_refusal(answer, answered),
        model=text(answer.get("model")),
        extra=_extra(answer, blocks),
    )


def _text(blocks: list[JsonObject]) -> str | None:
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


def _refusal(answer: JsonObject, answered: str | None) -> str | None:
    """Why the model refuses, in the best words that there are."""
    if answer.get("stop_reason") != "refusal":
        return None
    details = answer.get("stop_details")
    reason = text(details.get("explanation")) if isinstance(details, dict) else None
    return reason or answered or "refusal"


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
