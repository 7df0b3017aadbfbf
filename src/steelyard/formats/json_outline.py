"""How much a JSON text holds, counted on its bytes before anything is built from them.

The work is done in compiled code and in small pieces, so that other threads get their turn.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate, compress
from typing import NamedTuple

_CHUNK = 128 * 1024
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_REST_OF_TEXT = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_MARKS = b"[]{},"
_OTHERS = bytes(set(range(256)) - set(_MARKS))
_STEPS = bytes.maketrans(_MARKS, b"\x01\xff\x01\xff\x00")
_COMMAS = bytes.maketrans(_MARKS, b"\x00\x00\x00\x00\x01")


class JsonOutline(NamedTuple):
    """How many values the upper levels of a JSON text have, all parts of a level together."""

    is_object: bool
    outer: int
    """Members of the outermost object, or items of the outermost list."""
    inner: int
    """Values in the objects and lists that these are."""


def most_values(data: bytes) -> int:
    """How many values a text has at the most; commas and brackets in strings count, too."""
    places = range(0, len(data), _CHUNK)
    return 1 + sum(
        data.count(mark, at, at + _CHUNK) for at in places for mark in (b",", b"[", b"{")
    )


def has_more_values(data: bytes, most: int) -> bool:
    """Whether a text has more values than that; commas and brackets in strings do not count."""
    if most_values(data) <= most:
        return False
    counts = (sum(map(marks.count, (b",", b"[", b"{"))) for marks in _marks(data))
    return any(total > most for total in accumulate(counts, initial=1))


def outline(data: bytes) -> JsonOutline:
    """Count the values of the two upper levels; of what is no JSON, whatever looks like some."""
    commas: Counter[int] = Counter()
    level, first = 0, b""
    for marks in _marks(data):
        first = first or marks[:1]
        levels = [*accumulate(memoryview(marks.translate(_STEPS)).cast("b"), initial=level)]
        level = levels[-1]
        # A comma leaves the level as it is, so that the one before it is its own.
        commas.update(compress(levels, marks.translate(_COMMAS)))
    return JsonOutline(first == b"{", commas[1] + 1, commas[2] + 1)


def _marks(data: bytes) -> Iterator[bytes]:
    """The brackets and commas that stand outside of strings, in pieces."""
    is_text, left = False, b""
    for at in range(0, len(data), _CHUNK):
        piece = left + data[at : at + _CHUNK]
        # What an escape begins with belongs to what it escapes.
        left = b"\\" if (len(piece) - len(piece.rstrip(b"\\"))) % 2 else b""
        piece = piece[: len(piece) - len(left)]
        if is_text:
            end = _REST_OF_TEXT.match(piece)
            if not end:
                continue
            piece = piece[end.end() :]
        piece, quote, _ = _TEXT.sub(b"", piece).partition(b'"')
        is_text = bool(quote)
        yield piece.translate(None, _OTHERS)
