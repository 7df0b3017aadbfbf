"""Whether a text states a fact, by its words: the same every time, and fast on long texts.

Both are taken apart into words; case, punctuation and white space do not count, but the signs of
numbers, per cent and currencies do. A fact is stated when all of its telling words stand in one
passage, in any order. Every word tells but small ones: those of at most three small letters that
neither deny nor are the unit of a number, and an article at the beginning. A word stands in a
passage when it occurs there as it is or, from five letters, as one that differs little and begins
with the same letter. A comparison sign, a magnitude and a letter such as that of "Article 5a"
belong to their number. For a fact that denies nothing, a word behind one that denies does not
count, also over adverbs and small words: "is open" is not stated by "is not currently open".
Beyond that, this cannot see meaning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from rapidfuzz import fuzz, process

from steelyard.checks.fact_words import DENYING, FUNCTION_WORDS, fact_words

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
        self._forms: list[str] = []
        self._denied: dict[int, str] = {}
        self._spots: dict[str, list[int]] = defaultdict(list)
        self._alike: dict[str, list[str]] = defaultdict(list)
        for spot, word in enumerate(fact_words(text)):
            self._forms.append(word.form)
            self._spots[word.form].append(spot)
            if word.is_denied:
                self._denied[spot] = word.form
        for form in self._spots:
            self._alike[form[0]].append(form)

    def state(self, fact: str) -> bool:
        """Whether the text states the fact."""
        words = list(fact_words(fact))
        if not words:
            return fact.strip() in self._text
        telling = {word.form for word in words if not word.is_small}
        if words[0].written in _OPENING:
            telling.discard(words[0].form)
        wanted = telling or {word.form for word in words}
        unspaced = {word for word in wanted if word.isalpha() and word.upper() == word}
        if not all(word in self._run_together for word in unspaced):
            return False
        denied: Mapping[int, str] = {}
        if not any(word.form in DENYING for word in words):
            denied = self._denied
            # A small word tells after all where the text denies it: "will not pay".
            wanted |= {word.form for word in words} & set(denied.values()) - FUNCTION_WORDS
        return self._stand_together(wanted - unspaced, 2 * len(words) + _BETWEEN, denied)

    @cached_property
    def _run_together(self) -> str:
        """The words without spaces: scripts without capitals may not have any."""
        return "".join(self._forms)

    def _stand_together(self, wanted: set[str], span: int, denied: Mapping[int, str]) -> bool:
        """Whether some stretch of so many words has all that is wanted."""
        found: list[tuple[int, str]] = []
        for word in sorted(wanted):
            spots = [spot for spot in self._spots_of(word) if spot not in denied]
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
