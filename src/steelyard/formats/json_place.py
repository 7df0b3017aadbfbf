"""Where a path stands in JSON text, to show people the spot."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import cast

from steelyard.model.json_value import Path, PathPart

_SPACE = re.compile(r"[ \t\r\n]*")
_PART = re.compile(r"\[(\d{1,9})\]|\.?([^.\[]+)")
_decoder = json.JSONDecoder()


@lru_cache(maxsize=256)
def parse_path(text: str) -> Path:
    """A written path, such as `records[1].input.prompt`, as its parts."""
    return tuple(int(number) if number else name for number, name in _PART.findall(text))


def place_of(text: str, path: Path) -> tuple[int, int]:
    """Start and end of the key (or value) a path names, or of the nearest part that exists."""
    start = _skip(text, 0)
    span = (start, start + 1)
    try:
        for part in path:
            step = (
                _member(text, start, part) if isinstance(part, str) else _item(text, start, part)
            )
            if step is None:
                break
            span, start = step
    except (ValueError, IndexError, RecursionError):
        pass
    return span


def _member(text: str, start: int, name: PathPart) -> tuple[tuple[int, int], int] | None:
    if text[start] != "{":
        return None
    place = _skip(text, start + 1)
    while text[place] == '"':
        key, end = cast("tuple[str, int]", scanstring(text, place + 1))
        value = _skip(text, _skip(text, end) + 1)
        if key == name:
            return (place, end), value
        _, after = _decoder.raw_decode(text, value)
        place = _skip(text, _skip(text, after) + 1)
    return None


def _item(text: str, start: int, index: int) -> tuple[tuple[int, int], int] | None:
    if text[start] != "[":
        return None
    place = _skip(text, start + 1)
    for _ in range(index):
        _, after = _decoder.raw_decode(text, place)
        place = _skip(text, _skip(text, after) + 1)
    _, end = _decoder.raw_decode(text, place)
    return (place, end), place


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place
