"""What is said in a conversation: messages, their content blocks and tool calls."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import msgspec

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import Extra, JsonObject, JsonValue, no_extra

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


class TextBlock(FrozenStruct, frozen=True, kw_only=True):
    """A piece of text inside a message."""

    text: str
    extra: Extra = msgspec.field(default_factory=no_extra)


class FileBlock(FrozenStruct, frozen=True, kw_only=True):
    """A file that a message refers to, with its text loaded."""

    value: str
    """The reference as it was written."""
    path: str
    """Where the file was found."""
    text: str
    guideline: bool = False
    """Whether the file matches a guideline pattern and so belongs before the prompt."""
    extra: Extra = msgspec.field(default_factory=no_extra)


class UnshownBlock(TextBlock, frozen=True, kw_only=True):
    """A file that is there and cannot be shown; the text says so in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBlock:
    """A block that no text stands for; kept as it is."""

    data: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBlock(OtherBlock):
    """An image: its bytes, or the address at which the endpoint finds it."""

    media_type: str = ""
    content: bytes = field(default=b"", repr=False)
    url: str = ""
    """Where it is, for an image that is not at hand."""
    file: str = ""
    """The reference as it was written, for an image that was read from a file."""
    detail: str = ""
    """How closely a model is to look, in the words of the protocol."""
    _hash: list[str] = field(
        default_factory=list[str], init=False, repr=False, compare=False, hash=False
    )
    """The hash of its bytes, once somebody has asked for it."""

    @property
    def sha256(self) -> str:
        """The hash of its bytes, or of its address."""
        if not self._hash:
            self._hash.append(hashlib.sha256(self.content or self.url.encode()).hexdigest())
        return self._hash[0]


ContentBlock: TypeAlias = TextBlock | FileBlock | OtherBlock
Content: TypeAlias = str | tuple[ContentBlock, ...] | Mapping[str, JsonValue] | None


class ToolCall(FrozenStruct, frozen=True, kw_only=True):
    """One use of a tool: what went in and what came out."""

    tool: str
    input: JsonValue = None
    output: JsonValue = None
    id: str | None = None
    extra: Extra = msgspec.field(default_factory=no_extra)


class Message(FrozenStruct, frozen=True, kw_only=True):
    """One turn of a conversation; content is text, blocks, a structured object or nothing."""

    role: Role
    content: Content = None
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    extra: Extra = msgspec.field(default_factory=no_extra)

    @property
    def text(self) -> str:
        """The text of the content: its texts and files joined, an object as JSON, or nothing."""
        if isinstance(self.content, str):
            return self.content
        if isinstance(self.content, tuple):
            shown = [block.text for block in self.content if not isinstance(block, OtherBlock)]
            return "\n".join(shown)
        if self.content is None:
            return ""
        return json.dumps(dict(self.content), ensure_ascii=False, indent=2)

    @property
    def blocks(self) -> tuple[ContentBlock, ...]:
        """The content as blocks, whatever way it was written."""
        if isinstance(self.content, tuple):
            return self.content
        if isinstance(self.content, str):
            return (TextBlock(text=self.content),)
        if self.content is None:
            return ()
        return (OtherBlock(data=dict(self.content)),)
