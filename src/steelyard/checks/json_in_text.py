"""JSON that stands in a text: the whole of it, in fences, between other words, or broken off.

Everything here takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

from steelyard.model.json_value import JsonValue

_FENCE = "```"
# A string is one step: braces in it do not count. One that never ends goes on to the end.
_STEP = re.compile(r'[{}]|"(?:[^"\\]++|\\.?)*+(?:"|\Z)', re.DOTALL)


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
        end = _closed_at(text, start)
        if end is None:
            return
        found = _parsed(text[start:end])
        if found is not None:
            yield found
        start = text.find("{", end)


def _closed_at(text: str, start: int) -> int | None:
    """Where the brace at `start` is closed."""
    depth = 0
    for step in _STEP.finditer(text, start):
        if step[0] == "{":
            depth += 1
        elif step[0] == "}":
            depth -= 1
            if depth == 0:
                return step.end()
    return None


def _parsed(text: str) -> JsonValue:
    try:
        # Models write line breaks into strings; what they mean is clear.
        found = cast(JsonValue, json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None
    return found
