"""Whether a text states a fact, by its words: the same every time, and fast on long texts.

Both are taken apart into words; case, punctuation and white space do not count. A fact is stated
when all of its telling words stand in one passage, in any order. Every word tells but small ones:
those of at most three small letters that deny nothing, and an article at the beginning. A word
stands in a passage when it occurs there as it is or, from five letters, as one that differs little
and begins with the same letter. What this cannot see is meaning: "is open" and "is not open" have
the same telling words but one.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cached_property

from rapidfuzz import fuzz, process

# A comma before three digits groups them; a point or colon between digits belongs to the number.
_GROUPING = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WORD = re.compile(r"\d+(?:[.:]\d+)*|[^\W\d_]+")
_SMALL = 3
_DENYING = frozenset({"no", "not", "nor", "non", "ne", "pas", "nie"})
_OPENING = frozenset(
    {"The", "A", "An", "It", "In", "On", "At", "Der", "Die", "Das", "Ein", "Le", "La", "Les", "El"}
)
_NEAR_FROM = 5
_NEAR = 90
# A passage has twice as many words as the fact, and so many more for what stands between them.
_BETWEEN = 10


class Passages:
    """A text in which facts are looked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spots: dict[str, list[int]] = defaultdict(list)
        self._alike: dict[str, list[str]] = defaultdict(list)
        for spot, word in enumerate(_words(text)):
            self._spots[word.casefold()].append(spot)
        for word in self._spots:
            self._alike[word[0]].append(word)

    def state(self, fact: str) -> bool:
        """Whether the text states the fact."""
        words = _words(fact)
        if not words:
            return fact.strip() in self._text
        telling = {word.casefold() for word in words if not _is_small(word)}
        if words[0] in _OPENING:
            telling.discard(words[0].casefold())
        wanted = telling or {word.casefold() for word in words}
        unspaced = {word for word in wanted if word.isalpha() and word.upper() == word}
        if not all(word in self._run_together for word in unspaced):
            return False
        return self._stand_together(wanted - unspaced, 2 * len(words) + _BETWEEN)

    @cached_property
    def _run_together(self) -> str:
        """The words without spaces: scripts without capitals may not have any."""
        return "".join(_words(self._text))

    def _stand_together(self, wanted: set[str], span: int) -> bool:
        """Whether some stretch of so many words has all that is wanted."""
        found: list[tuple[int, str]] = []
        for word in sorted(wanted):
            spots = self._spots_of(word)
            if not spots:
                return False
            found.extend((spot, word) for spot in spots)
        last: dict[str, int] = {}
        for spot, word in sorted(found):
            last[word] = spot
            if len(last) == len(wanted) and spot - min(last.values()) < span:
                return True
        return not wanted

    def _spots_of(self, word: str) -> list[int]:
        if len(word) < _NEAR_FROM or not word.isalpha():
            return self._spots.get(word, [])
        near = process.extract(
            word, self._alike[word[0]], scorer=fuzz.ratio, score_cutoff=_NEAR, limit=None
        )
        return [spot for other, _, _ in near for spot in self._spots[other]]


def _words(text: str) -> list[str]:
    return _WORD.findall(_GROUPING.sub("", unicodedata.normalize("NFKC", text)))


def _is_small(word: str) -> bool:
    return len(word) <= _SMALL and word.islower() and word not in _DENYING
