"""Turns with images and tool calls, in the form of Anthropic's messages protocol."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

from steelyard.errors import ParseError
from steelyard.formats.json_fields import object_list
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import ImageBlock
from steelyard.ports import ToolUse, Turn


def spoken_blocks(turns: Sequence[Turn]) -> list[tuple[str, list[JsonObject]]]:
    """Who says which blocks: turns of one role in a row are one, and the user gives results."""
    merged: list[tuple[str, list[JsonObject]]] = []
    for role, blocks in _spoken(turns):
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(blocks)
        else:
            merged.append((role, blocks))
    return merged


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
