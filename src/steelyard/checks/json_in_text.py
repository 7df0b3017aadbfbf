"""JSON that stands in a text: the whole of it, in fences, between other words, or broken off.

Everything here takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import cast

from steelyard.formats.braces import closed_at
from steelyard.model.json_value import JsonValue

_FENCE = "```"


def lenient_json(text: str) -> JsonValue:
    """The object or list that a text is, raw line breaks in strings forgiven; None otherwise."""
    stripped = text.strip()
    return _parsed(stripped) if stripped.startswith(("{", "[")) else None


def fenced_json(text: str) -> Iterator[JsonValue]:
    """The objects and lists in code fences; the last fence may be open."""
    for block in text.split(_FENCE)[1::2]:
        starts = [place for mark in "{[" if (place := block.find(mark)) >= 0]
        if starts:
            found = _parsed(block[min(starts) :].strip())
            if found is not None:
                yield found


def embedded_json(text: str) -> Iterator[JsonValue]:
    """The objects between other words, up to a brace that is never closed."""
    start = text.find("{")
    while start >= 0:
        end = closed_at(text, start)
        if end is None:
            return
        found = _parsed(text[start:end])
        if found is not None:
            yield found
        start = text.find("{", end)


def _parsed(text: str) -> JsonValue:
    try:
        # Models write line breaks into strings; what they mean is clear.
        found = cast(JsonValue, json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None
    return found
