"""A conversation as pages show it: numbered turns, calls with their results, images by hash."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from steelyard.errors import ParseError
from steelyard.formats.image_bytes import base64_bytes, data_url_bytes, media_type_of
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.numbers import count
from steelyard.results.predictions import Prediction

PART = 100
"""Messages that one page of a trace shows."""
Source: TypeAlias = Literal["request", "trace"]
_BEGINNING = 60
_NAMES = {"user": "User", "assistant": "Assistant", "system": "System prompt", "tool": "Tool"}
_ROLES = {**dict.fromkeys(_NAMES, ""), "developer": "system", "function": "tool"}


class ImageView(NamedTuple):
    """An image, which no page loads: what is known of it."""

    media_type: str = ""
    size: int | None = None
    sha256: str = ""
    place: str = ""
    """The file or address that it comes from, where it is not at hand."""


class MessagePiece(NamedTuple):
    """A part of what a message says: a text, JSON or an image."""

    text: str | None = None
    value: JsonValue = None
    image: ImageView | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """A tool call with what came back."""

    tool: str
    call_id: str = ""
    given: JsonValue = None
    result: JsonValue = None
    has_result: bool = False
    duration_ms: float | None = None

    @property
    def arguments(self) -> tuple[tuple[str, JsonValue], ...] | None:
        """Named arguments; None where the input is no object."""
        return tuple(self.given.items()) if isinstance(self.given, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One message."""

    number: int
    """Its place among the messages, from 1."""
    role: str
    """One of user, assistant, system and tool."""
    title: str
    source: Source
    name: str = ""
    turn: int | None = None
    """Its number among the messages of the assistant in the trace, by which questions name it."""
    pieces: tuple[MessagePiece, ...] = ()
    calls: tuple[CallView, ...] = ()

    @property
    def about(self) -> str:
        """How a long text begins, and how long it is."""
        texts = [one.text for one in self.pieces if one.text]
        first = texts[0].strip().partition("\n")[0].lstrip("# ") if texts else ""
        begins = f"{first[:_BEGINNING].rstrip()}{'…' if len(first) > _BEGINNING else ''}, "
        return f"{begins if first else ''}{count(sum(map(len, texts)))} characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceView:
    """A conversation, or the part of it that is shown."""

    messages: tuple[TurnView, ...]
    total: int
    """All messages of the conversation."""
    turns: int
    """Messages of the assistant in the trace."""
    calls: int
    part: int = 1
    parts: int = 1
    places: tuple[int, ...] = ()
    """The number of the message of each turn."""
    refusal: str = ""
    finish_reason: str = ""

    def part_of(self, turn: int) -> int:
        """The part in which a turn is; the first for one that there is not."""
        return -(-self.places[turn - 1] // PART) if 0 < turn <= len(self.places) else 1

    @property
    def has_hashed_images(self) -> bool:
        """Whether an image is shown of which nothing but the hash is kept."""
        pieces = (piece for one in self.messages for piece in one.pieces)
        return any(one.image and one.image.sha256 and not one.image.place for one in pieces)

    @property
    def first(self) -> int:
        """The number of the first message that is shown."""
        return self.messages[0].number if self.messages else 0

    @property
    def last(self) -> int:
        """The number of the last message that is shown."""
        return self.messages[-1].number if self.messages else 0


def trace_view(row: Prediction, part: int | None = None) -> TraceView:
    """What was asked and answered; `part` chooses messages of a long one, the first by default."""
    whole = whole_trace(row.request, row.trace)
    parts = max(1, -(-whole.total // PART))
    shown = min(max(part or 1, 1), parts)
    messages = whole.messages[(shown - 1) * PART : shown * PART]
    return replace(whole, messages=messages, part=shown, parts=parts)


def whole_trace(request: JsonObject | None, trace: Mapping[str, Any] | None) -> TraceView:
    """All messages of a conversation: what was asked, and what was answered."""
    trace = trace or {}
    messages = _numbered([*_asked(request, trace), *_listed(trace.get("messages"), "trace")])
    return TraceView(
        messages=tuple(messages),
        total=len(messages),
        turns=sum(one.turn is not None for one in messages),
        places=tuple(one.number for one in messages if one.turn is not None),
        calls=sum(len(one.calls) for one in messages),
        refusal=_text(trace.get("refusal")),
        finish_reason=_text(trace.get("finish_reason")),
    )


def question_of(row: Prediction) -> tuple[MessagePiece, ...]:
    """The last thing that the user asked for in the request; nothing for a broken record."""
    asked = list(_listed((row.request or {}).get("messages"), "request"))
    users = [one for one in asked if one.role == "user"] or asked
    return users[-1].pieces if users else ()


def _asked(request: JsonObject | None, trace: Mapping[str, Any]) -> Iterator[TurnView]:
    """The messages of the request that the trace does not repeat."""
    said = {_known(one) for one in _listed(trace.get("messages"), "trace")}
    for message in _listed((request or {}).get("messages"), "request"):
        if _known(message) not in said:
            yield message


def _known(message: TurnView) -> tuple[str, tuple[MessagePiece, ...]]:
    """A message by what can be compared: its role and its texts."""
    return message.role, tuple(MessagePiece(text=one.text) for one in message.pieces)


def _numbered(messages: list[TurnView]) -> list[TurnView]:
    numbered: list[TurnView] = []
    turn = 0
    for number, message in enumerate(messages, start=1):
        is_turn = message.source == "trace" and message.role == "assistant"
        turn += is_turn
        numbered.append(replace(message, number=number, turn=turn if is_turn else None))
    return numbered


def _listed(messages: object, source: Source) -> Iterator[TurnView]:
    """Messages in order; what a tool says stands with its call where that is known."""
    given = cast("list[Any]", messages) if isinstance(messages, list) else []
    rows = [cast(JsonObject, one) for one in given if isinstance(one, dict)]
    results = {_call_id(row): row.get("content") for row in rows if row.get("role") == "tool"}
    called = {_text(call.get("id")) for row in rows for call in _objects(row.get("tool_calls"))}
    for row in rows:
        if row.get("role") == "tool" and _call_id(row) in called - {""}:
            continue
        yield _message(row, source, results)


def _message(row: JsonObject, source: Source, results: Mapping[str, JsonValue]) -> TurnView:
    said = _text(row.get("role"))
    pieces = tuple(_pieces(row.get("content")))
    blocks = [one.value for one in pieces if _is_call(one.value)]
    calls = [_call(call, results) for call in _objects(row.get("tool_calls"))]
    calls += [_sent_call(cast(JsonObject, block)) for block in blocks]
    return TurnView(
        number=0,
        role=_ROLES.get(said) or (said if said in _NAMES else "tool"),
        title=_NAMES.get(said) or said or "Message",
        source=source,
        name=_text(row.get("name")),
        pieces=tuple(one for one in pieces if not _is_call(one.value)),
        calls=tuple(calls),
    )


def _call_id(row: JsonObject) -> str:
    return _text(row.get("tool_call_id"))


def _call(call: JsonObject, results: Mapping[str, JsonValue]) -> CallView:
    call_id, took = _text(call.get("id")), call.get("duration_ms")
    is_answered = "output" not in call and call_id != "" and call_id in results
    return CallView(
        tool=_text(call.get("tool")) or "?",
        call_id=call_id,
        given=call.get("input"),
        result=results[call_id] if is_answered else call.get("output"),
        has_result=is_answered or "output" in call,
        duration_ms=took if isinstance(took, int | float) else None,
    )


def _is_call(value: JsonValue) -> bool:
    """Whether a block is a call as a request keeps it."""
    return isinstance(value, dict) and value.get("type") == "tool_call" and "tool" in value


def _sent_call(block: JsonObject) -> CallView:
    return CallView(
        tool=_text(block.get("tool")) or "?",
        call_id=_text(block.get("id")),
        given=block.get("input"),
        result=block.get("result"),
        has_result="result" in block,
    )


def _pieces(content: JsonValue) -> Iterator[MessagePiece]:
    if isinstance(content, str):
        yield MessagePiece(text=content)
    elif isinstance(content, list):
        for block in content:
            yield _piece(block)
    elif content is not None:
        yield MessagePiece(value=content)


def _piece(block: JsonValue) -> MessagePiece:
    if isinstance(block, str):
        return MessagePiece(text=block)
    if not isinstance(block, dict):
        return MessagePiece(value=block)
    text = block.get("value", block.get("text"))
    if block.get("type") in {"text", "input_text", "output_text"} and isinstance(text, str):
        return MessagePiece(text=text)
    if "image" in _text(block.get("type")):
        return MessagePiece(image=_image(block))
    return MessagePiece(value=block)


def _image(block: JsonObject) -> ImageView:
    size = block.get("size")
    if isinstance(block.get("sha256"), str):
        return ImageView(
            media_type=_text(block.get("media_type")),
            size=size if isinstance(size, int) else None,
            sha256=_text(block.get("sha256")),
            place=_text(block.get("url")),
        )
    source = block.get("source")
    if isinstance(source, dict) and isinstance(source.get("data"), str):
        return _held(_text(source.get("data")), is_base64=True)
    stated: JsonValue = block.get("image_url", source)
    inner = stated.get("url") if isinstance(stated, dict) else stated
    named = (inner, *(block.get(name) for name in ("value", "image", "path", "url")))
    written = next((one for one in named if isinstance(one, str)), "")
    if written[:5].casefold() == "data:":
        return _held(written, is_base64=False)
    return ImageView(place=written)


def _held(text: str, *, is_base64: bool) -> ImageView:
    """An image whose bytes are at hand."""
    try:
        content = base64_bytes(text) if is_base64 else data_url_bytes(text)
    except ParseError as wrong:
        return ImageView(place=f"not readable: {wrong}")
    digest = hashlib.sha256(content).hexdigest()
    return ImageView(media_type_of(content) or "unknown type", len(content), digest)


def _objects(value: JsonValue) -> list[JsonObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
