"""Where the parts of a parsed value stand in their file."""

from __future__ import annotations

from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonValue, Path, PathPart


class Lines:
    """A tree of physical lines (1-based) in the shape of the value it belongs to."""

    __slots__ = ("children", "line")

    def __init__(self, line: int, children: dict[PathPart, Lines] | None = None) -> None:
        self.line = line
        self.children = {} if children is None else children

    def moved_to(self, line: int) -> Lines:
        """The same parts under another line of their own."""
        return Lines(line, self.children)

    def at(self, path: Path) -> int:
        """The line of a path, or of the nearest part of it that exists."""
        node = self
        for part in path:
            child = node.children.get(part)
            if child is None:
                break
            node = child
        return node.line


class Located(FrozenStruct, frozen=True):
    """A parsed value and its lines."""

    value: JsonValue
    lines: Lines
