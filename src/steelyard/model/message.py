"""What is said in a conversation: messages, their content blocks and tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from steelyard.model.json_value import Extra, JsonObject, JsonValue, no_extra

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[Role, ...] = ("system", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """A piece of text inside a message."""

    text: str
    extra: Extra = field(default_factory=no_extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBlock:
    """A file that a message refers to, with its text loaded."""

    value: str
    """The reference as it was written."""
    path: str
    """Where the file was found."""
    text: str
    guideline: bool = False
    """Whether the file matches a guideline pattern and so belongs before the prompt."""
    extra: Extra = field(default_factory=no_extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherBlock:
    """A block of a type Steelyard does not interpret; kept as it is."""

    data: JsonObject


ContentBlock: TypeAlias = TextBlock | FileBlock | OtherBlock
Content: TypeAlias = str | tuple[ContentBlock, ...] | Mapping[str, JsonValue] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One use of a tool: what went in and what came out."""

    tool: str
    input: JsonValue = None
    output: JsonValue = None
    id: str | None = None
    extra: Extra = field(default_factory=no_extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation; content is text, blocks, a structured object or nothing."""

    role: Role
    content: Content = None
    name: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    extra: Extra = field(default_factory=no_extra)

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
