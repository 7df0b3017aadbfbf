"""Messages to and from the rows in which traces and eval cases write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from steelyard.formats.json_fields import fields, object_list, optional_text, text_field
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.message import (
    Content,
    ContentBlock,
    FileBlock,
    Message,
    OtherBlock,
    Role,
    TextBlock,
    ToolCall,
)

_MESSAGE = {"role", "content", "name", "tool_calls"}
_TOOL_CALL = {"id", "tool", "input", "output"}


BlockReader: TypeAlias = Callable[[JsonObject, int], ContentBlock]


def read_message(row: JsonObject, read_block: BlockReader) -> Message:
    """A message whose shape has been checked; blocks that are objects are read by the caller."""
    calls = object_list(row, "tool_calls")
    return Message(
        role=cast(Role, row["role"]),
        content=_read_content(row.get("content"), read_block),
        name=optional_text(row, "name"),
        tool_calls=tuple(_read_tool_call(call) for call in calls),
        extra=beyond(row, _MESSAGE),
    )


def read_blocks(items: list[JsonValue], read_block: BlockReader) -> tuple[ContentBlock, ...]:
    """A list of content; a text in it is a text block."""
    return tuple(
        TextBlock(text=item) if isinstance(item, str) else read_block(fields(item), index)
        for index, item in enumerate(items)
    )


def read_block(block: JsonObject) -> ContentBlock:
    """A text block, or one that is kept as it is."""
    value = block.get("value")
    if block["type"] == "text" and isinstance(value, str):
        return TextBlock(text=value, extra=beyond(block, {"type", "value"}))
    return OtherBlock(data=block)


def beyond(row: JsonObject, named: set[str]) -> JsonObject:
    """What a row carries beside the fields that were read from it."""
    if named.issuperset(row):
        return {}
    return {name: value for name, value in row.items() if name not in named}


def _read_content(content: JsonValue, read_block: BlockReader) -> Content:
    if isinstance(content, list):
        return read_blocks(content, read_block)
    assert content is None or isinstance(content, (str, dict))
    return content


def _read_tool_call(row: JsonObject) -> ToolCall:
    return ToolCall(
        tool=text_field(row, "tool"),
        input=row.get("input"),
        output=row.get("output"),
        id=optional_text(row, "id"),
        extra=beyond(row, _TOOL_CALL),
    )


def message_row(message: Message) -> JsonObject:
    """A message with its fields in the usual order; absent ones are left out."""
    row: JsonObject = {"role": message.role}
    if message.name is not None:
        row["name"] = message.name
    if message.content is not None or not message.tool_calls:
        # A message that says nothing says so: without content it would be no message.
        row["content"] = _content(message.content)
    if message.tool_calls:
        row["tool_calls"] = [_tool_call_row(call) for call in message.tool_calls]
    row.update(message.extra)
    return row


def _content(content: Content) -> JsonValue:
    if isinstance(content, str) or content is None:
        return content
    if isinstance(content, tuple):
        return [_block_row(block) for block in content]
    return dict(content)


def _block_row(block: ContentBlock) -> JsonObject:
    if isinstance(block, TextBlock):
        return {"type": "text", "value": block.text, **block.extra}
    if isinstance(block, FileBlock):
        return {"type": "file", "value": block.value, **block.extra}
    return dict(block.data)


def _tool_call_row(call: ToolCall) -> JsonObject:
    row: JsonObject = {} if call.id is None else {"id": call.id}
    row["tool"] = call.tool
    if call.input is not None:
        row["input"] = call.input
    if call.output is not None:
        row["output"] = call.output
    return {**row, **call.extra}
