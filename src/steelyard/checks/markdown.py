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
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
# What begins a quote or a list, in which nothing is underlined.
_CONTAINER = re.compile(r" {0,3}(?:>|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|\Z))")
_INDENTED = re.compile(r" {4}|\t")
_BREAK = re.compile(r"\r\n|\n|\r")


class Heading(NamedTuple):
    """A line that begins with one to six number signs, or text that is underlined."""

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
    paragraphs, above = 0, _Above()
    lines = iter(_BREAK.split(text))
    for line in lines:
        opening, heading = _FENCE.match(line), _HEADING.match(line)
        underline = _UNDERLINE.match(line) if above.lines else None
        if underline:
            headings.append(above.heading(underline[1]))
            paragraphs -= len(above.lines)
        elif opening:
            language = next(iter(opening[2].split()), "").casefold()
            inside = _until_closed(lines, opening[1])
            fences.append(Fence(language, "\n".join(inside)))
        elif heading:
            headings.append(Heading(len(heading[1]), _title(line[heading.end() :])))
        else:
            paragraphs += bool(line.strip())
            above.add(line)
            continue
        above = _Above()
    return Outline(headings=tuple(headings), fences=tuple(fences), paragraphs=paragraphs)


def _title(rest: str) -> str:
    """What a heading says, without the number signs that may close it."""
    heading = rest.strip(_BLANKS)
    bare = heading.rstrip("#")
    return bare.rstrip(_BLANKS) if bare.endswith(tuple(_BLANKS)) else heading


class _Above:
    """The lines of text right above a line, which it may underline."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._is_contained = False

    def add(self, line: str) -> None:
        """One more line, unless it ends the text or belongs to a quote or a list."""
        if not line.strip():
            self.lines, self._is_contained = [], False
        elif self._is_contained or _CONTAINER.match(line):
            self.lines, self._is_contained = [], True
        elif self.lines or not _INDENTED.match(line):
            self.lines.append(line)

    def heading(self, mark: str) -> Heading:
        """The heading that an underline makes of them."""
        return Heading(1 if mark[0] == "=" else 2, " ".join(line.strip() for line in self.lines))


def _until_closed(lines: Iterator[str], mark: str) -> Iterator[str]:
    """The lines up to a fence of the same sort that is at least as long."""
    for line in lines:
        bare = line.strip()
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return
        yield line
