"""Responses that are JSON, and JSON values compared."""

from __future__ import annotations

from steelyard.checks.markdown import outline
from steelyard.errors import ParseError
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonValue


def strict_json(response: str) -> JsonValue:
    """The response as JSON to the letter; a ParseError says why it is none."""
    return parse_json(response.strip().encode("utf-8", "replace"))


def any_json(response: str) -> JsonValue:
    """The response as JSON, or else its one fenced block that is marked as JSON or is the only."""
    try:
        return strict_json(response)
    except ParseError:
        fences = outline(response).fences
        marked = [fence.text for fence in fences if fence.language == "json"]
        blocks = marked or [fence.text for fence in fences if not fence.language]
        if len(blocks) != 1:
            raise
        return strict_json(blocks[0])


def same_json(left: JsonValue, right: JsonValue) -> bool:
    """Whether two values are the same to JSON: 1 is 1.0, but neither is true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same_json(*pair) for pair in pairs)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            same_json(value, right[name]) for name, value in left.items()
        )
    return left == right
