"""The shape of a Markdown text: its headings, fenced blocks and lines of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

# Before a fence any white space may stand, as in lists; after back-ticks no others follow.
_FENCE = re.compile(r"\s*(`{3,}(?=[^`]*\Z)|~{3,})(.*)\Z")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_BLANKS = " \t"
_BREAK = re.compile(r"\r\n|\n|\r")


class Heading(NamedTuple):
    """A line that begins with one to six number signs."""

    level: int
    text: str


class Fence(NamedTuple):
    """A block between fences; one that is never closed reaches to the end."""

    language: str
    """The first word after the opening fence, in small letters."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """What a Markdown text consists of, in order."""

    headings: tuple[Heading, ...]
    fences: tuple[Fence, ...]
    paragraphs: int
    """Lines of text outside of fences that are no headings."""


def outline(text: str) -> Outline:
    """Read the outline of a text in one pass."""
    headings: list[Heading] = []
    fences: list[Fence] = []
    paragraphs = 0
    lines = iter(_BREAK.split(text))
    for line in lines:
        opening = _FENCE.match(line)
        heading = _HEADING.match(line)
        if opening:
            language = next(iter(opening[2].split()), "").casefold()
            inside = _until_closed(lines, opening[1])
            fences.append(Fence(language, "\n".join(inside)))
        elif heading:
            headings.append(Heading(len(heading[1]), _title(line[heading.end() :])))
        elif line.strip():
            paragraphs += 1
    return Outline(headings=tuple(headings), fences=tuple(fences), paragraphs=paragraphs)


def _title(rest: str) -> str:
    """What a heading says, without the number signs that may close it."""
    said = rest.strip(_BLANKS)
    bare = said.rstrip("#")
    return bare.rstrip(_BLANKS) if bare.endswith(tuple(_BLANKS)) else said


def _until_closed(lines: Iterator[str], mark: str) -> Iterator[str]:
    """The lines up to a fence of the same sort that is at least as long."""
    for line in lines:
        bare = line.strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return
        yield line
