"""Places in a text, and a text as it reads once its escapes are gone."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SPACES = " \u00a0\u2007\u2008\u2009\u202f"
# Only where a run of backslashes begins: each of them as a start would look at all the others.
_ESCAPE = re.compile(r'(?<!\\)\\++(?:u([0-9A-Fa-f]{4})|(["/bfnrt]))')
_MEANT = {'"': '"', "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class TextSpan(NamedTuple):
    """A part of a text."""

    start: int
    end: int


def without_overlap(spans: list[TextSpan]) -> Iterator[TextSpan]:
    """The spans in order, shortened so that none overlaps the one before."""
    end = 0
    for span in sorted(spans):
        if span.end > end:
            yield TextSpan(max(span.start, end), span.end)
            end = span.end


def with_marks(text: str, marked: Iterable[tuple[TextSpan, str]]) -> str:
    """A text in which marks stand for some parts."""
    parts: list[str] = []
    done = 0
    for (start, end), mark in marked:
        parts += (text[done:start], mark)
        done = end
    return "".join((*parts, text[done:])) if parts else text


class Unescaped(NamedTuple):
    """A text whose escapes are read, as one that is JSON itself has them, however deep.

    What looks for something sees it in the form in which it was meant; `origin` says where.
    """

    text: str
    ends: list[int]
    """Where each escape ends in the text."""
    lost: list[int]
    """How many characters are gone up to there."""

    def origin(self, span: TextSpan) -> TextSpan:
        """Where a part of the text stands in what was given."""
        return TextSpan(self._origin(span.start), self._origin(span.end))

    def _origin(self, place: int) -> int:
        passed = bisect_right(self.ends, place)
        return place + (self.lost[passed - 1] if passed else 0)


def unescaped(text: str) -> Unescaped:
    """A text with its escapes read."""
    if "\\" not in text:
        return Unescaped(text, [], [])
    parts: list[str] = []
    ends: list[int] = []
    lost: list[int] = []
    end = gone = 0
    for match in _ESCAPE.finditer(text):
        code, letter = match.groups()
        parts += (text[end : match.start()], chr(int(code, 16)) if code else _MEANT[letter])
        end = match.end()
        gone += end - match.start() - 1
        ends.append(end - gone)
        lost.append(gone)
    return Unescaped("".join((*parts, text[end:])), ends, lost)


def is_word(sign: str) -> bool:
    """Whether a character belongs to the same word or number as its neighbour.

    Letters beyond ASCII do not: where words are not spaced, they stand beside any number.
    """
    return sign.isascii() and (sign.isalnum() or sign == "_")


def last_of(text: str, place: int) -> str:
    """The character before a place; nothing at the start."""
    return text[place - 1] if place > 0 else ""
