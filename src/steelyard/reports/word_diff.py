"""The words that differ between two texts, in time linear in their length.

Equal ends are cut off, words that each text has exactly once split the rest (patience diff), and
what is left between them is compared word by word where that is cheap, and else taken as changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from markupsafe import Markup, escape

from steelyard.reports.page_budget import page_budget

MAX_CELLS = 40_000
"""The most pairs of words that are compared at one place."""
MAX_DEPTH = 24
"""How often what lies between unique words is split again."""
_KEPT = 8
"""Words of context beside a difference where the rest is left out."""
_LONG = 3
"""Between two changes of so many words, one equal word does not count."""
_TOKEN = re.compile(r"\s*(?:\w+|[^\w\s])(?:\s+\Z)?|\s+\Z")

Words: TypeAlias = Sequence[str]
Match: TypeAlias = tuple[int, int]
"""The places of an equal word in both texts."""


class TextPiece(NamedTuple):
    """A part of a text."""

    text: str
    is_changed: bool = False
    """Whether the other text does not have it there."""


class WordDiff(NamedTuple):
    """Two texts in pieces; together the pieces of each are its text."""

    a: tuple[TextPiece, ...]
    b: tuple[TextPiece, ...]

    @property
    def is_equal(self) -> bool:
        """Whether no word differs."""
        return not any(piece.is_changed for piece in (*self.a, *self.b))


def word_diff(a: str, b: str) -> WordDiff:
    """Which words of two texts differ; how they are spaced makes no difference."""
    first, second = _TOKEN.findall(a), _TOKEN.findall(b)
    words_a, words_b = ([token.strip() for token in tokens] for tokens in (first, second))
    matches = list(_matches(words_a, words_b, 0, 0, 0))
    kept = list(_without_lone_words(matches, words_a, len(first), len(second)))
    return WordDiff(
        _pieces(first, {place for place, _ in kept}),
        _pieces(second, {place for _, place in kept}),
    )


def only_changes(pieces: Sequence[TextPiece]) -> Iterator[TextPiece | None]:
    """The pieces with long equal parts shortened; None stands where something is left out."""
    for number, piece in enumerate(pieces):
        tokens = [] if piece.is_changed else _TOKEN.findall(piece.text)
        head = _KEPT if number else 0
        tail = _KEPT if number < len(pieces) - 1 else 0
        if len(tokens) <= head + tail + 1:
            yield piece
            continue
        if head:
            yield TextPiece("".join(tokens[:head]))
        yield None
        if tail:
            yield TextPiece("".join(tokens[-tail:]))


def marked(pieces: Iterable[TextPiece | None], tag: str) -> Markup:
    """Pieces as HTML, the changed ones in `del` or `ins`."""
    assert tag in {"del", "ins"}
    return Markup().join(_markup(piece, tag) for piece in pieces)


def _markup(piece: TextPiece | None, tag: str) -> Markup:
    if piece is None:
        return Markup('<span class="muted"> … </span>')
    text = escape(piece.text)
    if not piece.is_changed:
        return text
    space = piece.text[: len(piece.text) - len(piece.text.lstrip())]
    changed = escape(piece.text.lstrip())
    # The space before a change belongs to neither text.
    return Markup(f"{space}<{tag}>{changed}</{tag}>")  # noqa: S704 - escaped above


def _matches(a: Words, b: Words, at_a: int, at_b: int, depth: int) -> Iterator[Match]:
    """The places of words that the texts have in common, in order."""
    head = _equal_start(a, b)
    yield from ((at_a + place, at_b + place) for place in range(head))
    tail = _equal_start(a[head:][::-1], b[head:][::-1])
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    yield from _inner_matches(middle_a, middle_b, at_a + head, at_b + head, depth)
    begin_a, begin_b = at_a + len(a) - tail, at_b + len(b) - tail
    yield from ((begin_a + place, begin_b + place) for place in range(tail))


def _inner_matches(a: Words, b: Words, at_a: int, at_b: int, depth: int) -> Iterator[Match]:
    if not a or not b:
        return
    cells = len(a) * len(b)
    if cells <= MAX_CELLS:
        if not page_budget().word_pairs.spend(cells):
            return
        yield from ((at_a + i, at_b + j) for i, j in _longest_common(a, b))
        return
    anchors = _unique_in_both(a, b) if depth < MAX_DEPTH else []
    if not anchors:
        return
    end_a = end_b = 0
    for i, j in [*anchors, (len(a), len(b))]:
        yield from _matches(a[end_a:i], b[end_b:j], at_a + end_a, at_b + end_b, depth + 1)
        if i < len(a):
            yield at_a + i, at_b + j
        end_a, end_b = i + 1, j + 1


def _equal_start(a: Words, b: Words) -> int:
    for place, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return place
    return min(len(a), len(b))


def _unique_in_both(a: Words, b: Words) -> list[Match]:
    """Words that either text has once, as many as stand in the same order in both."""
    once_a, once_b = ({word for word, n in Counter(text).items() if n == 1} for text in (a, b))
    places = {word: place for place, word in enumerate(b) if word in once_b}
    found = [(i, places[word]) for i, word in enumerate(a) if word in once_a and word in places]
    return _increasing(found)


def _increasing(found: Sequence[Match]) -> list[Match]:
    """The longest list of matches that is in order in both texts."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(found):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(j)
            last.append(number)
        else:
            ends[length], last[length] = j, number
    chain: list[Match] = []
    number = last[-1] if last else -1
    while number >= 0:
        chain.append(found[number])
        number = before[number]
    return chain[::-1]


def _longest_common(a: Words, b: Words) -> Iterator[Match]:
    """A longest common subsequence."""
    lengths = [[0] * (len(b) + 1)]
    for word in reversed(a):
        below, row = lengths[-1], [0] * (len(b) + 1)
        for j in range(len(b) - 1, -1, -1):
            row[j] = below[j + 1] + 1 if word == b[j] else max(below[j], row[j + 1])
        lengths.append(row)
    lengths.reverse()
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1


def _without_lone_words(
    matches: Sequence[Match], words: Words, end_a: int, end_b: int
) -> Iterator[Match]:
    """The matches but for signs between changes, and single words between long ones.

    They are equal by chance more often than not, and would only split what changed.
    """
    runs = _runs(matches)
    # Words are looked at without the signs that do not count.
    for most, least in ((0, 1), (1, _LONG)):
        ends = [[(-1, -1)], *runs, [(end_a, end_b)]]
        runs = [
            here
            for before, here, after in zip(ends, ends[1:], ends[2:], strict=False)
            if sum(words[place][:1].isalnum() for place, _ in here) > most
            or min(_gap(before[-1], here[0]), _gap(here[-1], after[0])) < least
        ]
    for run in runs:
        yield from run


def _runs(matches: Sequence[Match]) -> list[list[Match]]:
    """Matches that follow each other in both texts."""
    runs: list[list[Match]] = []
    for i, j in matches:
        if runs and runs[-1][-1] == (i - 1, j - 1):
            runs[-1].append((i, j))
        else:
            runs.append([(i, j)])
    return runs


def _gap(one: Match, other: Match) -> int:
    """How many words changed between two matches, in the text in which fewer did."""
    return min(other[0] - one[0], other[1] - one[1]) - 1


def _pieces(tokens: Sequence[str], kept: set[int]) -> tuple[TextPiece, ...]:
    pieces: list[TextPiece] = []
    begin = 0
    for place in range(1, len(tokens) + 1):
        if place == len(tokens) or (place in kept) != (begin in kept):
            text = "".join(tokens[begin:place])
            pieces.append(TextPiece(text, begin not in kept and not text.isspace()))
            begin = place
    return tuple(pieces)
