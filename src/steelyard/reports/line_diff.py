"""The lines of two texts side by side as one list: what stays, what goes, and what comes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple, TypeAlias

MOST_LINES = 4_000
"""Longer texts are compared up to here."""
_CONTEXT = 3

LineKind: TypeAlias = Literal["same", "old", "new", "gap"]


class DiffLine(NamedTuple):
    """A line of either text, or of both; a gap stands for lines that are the same."""

    kind: LineKind
    text: str
    old: int | None = None
    new: int | None = None


def line_diff(old: str, new: str) -> list[DiffLine]:
    """The differing lines with three lines around them."""
    before, after = (text.splitlines()[:MOST_LINES] for text in (old, new))
    found: list[DiffLine] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        first = group[0]
        if first[1] or first[3]:
            found.append(DiffLine("gap", ""))
        for tag, low, high, start, end in group:
            if tag == "equal":
                found += _same(before, low, high, start)
            else:
                found += [DiffLine("old", before[at], at + 1) for at in range(low, high)]
                found += [DiffLine("new", after[at], None, at + 1) for at in range(start, end)]
    return found


def _same(lines: list[str], low: int, high: int, start: int) -> Iterator[DiffLine]:
    for at in range(low, high):
        yield DiffLine("same", lines[at], at + 1, start + at - low + 1)
