"""The words of a text as facts are compared by them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

# A comma before three digits groups them; a point or colon between digits belongs to the number.
_GROUPING = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_MINUS = re.compile(
    r"(?<![\w-])(?:[\u2212\u2013](?=[$€£¥₹]?\d)|minus\s++(?=[$€£¥₹]?\d))", re.IGNORECASE
)
_SIGN_BEFORE_SYMBOL = re.compile(r"(?<![\w-])-([$€£¥₹])(?=\d)")
_SHORT = {"can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not"}
_SHORT_FORM = re.compile(r"\b(?:can't|cannot|won't|shan't)\b|(?<=[^\W\d_]) ?n't\b", re.IGNORECASE)
_AT_LEAST = re.compile(r"([<>])=(?=[ \t]?-?\d)")
_SIGNS = {"<": "≤", ">": "≥"}
_DOTTED = re.compile(r"\b([ap])\.m\b\.?|\bper cent\b", re.IGNORECASE)
_MAGNITUDES = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille"), "thousand"),
    **dict.fromkeys(("mn", "mio", "million", "millionen"), "million"),
    **dict.fromkeys(("bn", "mrd", "billion", "milliarde", "milliarden"), "billion"),
    **dict.fromkeys(("trillion", "hundred", "dozen"), ""),
}
# A comparison sign, a magnitude and a letter such as that of `Article 5a` make another number;
# letters that are units do not.
_WORD = re.compile(
    r"(?P<number>(?:[<>≤≥][ \t]?)?(?:(?<![\w-])-)?\d+(?:[.:]\d+)*)"
    rf"(?:[ \t]?(?P<magnitude>{'|'.join(_MAGNITUDES)})s?(?![^\W_])"
    r"|(?P<letter>[a-fi-knoprux-z])(?![^\W_]))?"
    r"|[^\W\d_]+|[%‰$€£¥₹]",
    re.IGNORECASE,
)
_SAME = {
    **dict.fromkeys(("$", "dollar", "dollars"), "usd"),
    **dict.fromkeys(("€", "euro", "euros"), "eur"),
    **dict.fromkeys(("£", "pound", "pounds"), "gbp"),
    **dict.fromkeys(("¥", "yen"), "jpy"),
    **dict.fromkeys(("₹", "rupee", "rupees"), "inr"),
    **dict.fromkeys(("percent", "prozent", "pct"), "%"),
}
_SMALL = 3
DENYING = frozenset(
    (
        *("no", "not", "nor", "non", "ne", "pas", "nie", "never", "neither", "nicht", "kein"),
        *("keine", "keinen", "nunca", "hardly", "barely", "scarcely", "kaum"),
    )
)
_UNITS = frozenset(
    (
        *("eur", "usd", "gbp", "chf", "jpy", "cny", "inr", "km", "m", "cm", "mm"),
        *("kg", "g", "mg", "t", "l", "ml", "s", "ms", "h", "min", "kb"),
        *("mb", "gb", "tb", "w", "kw", "mw", "v", "hz", "ft", "lb", "oz"),
        *("mi", "am", "pm"),
    )
)
"""What a number counts; as words of their own they are too small to tell."""
FUNCTION_WORDS = frozenset(
    (
        *("a", "an", "the", "of", "in", "on", "at", "to", "by", "as", "is"),
        *("are", "be", "it", "its", "and", "or", "for", "per", "der", "die", "das"),
        *("ein", "le", "la", "les", "un", "une", "el"),
    )
)
"""Small words that say nothing on their own, whatever stands before them."""
_BETWEEN = FUNCTION_WORDS | {
    *("longer", "all", "way", "yet", "always", "ever", "any", "anymore", "now", "still", "even"),
    *("so", "very", "been", "being", "have", "has", "had", "need", "deemed", "considered"),
    *("mehr", "immer", "derzeit", "zurzeit", "aktuell", "encore", "toujours", "tout", "du"),
}
"""Words over which a denial reaches the next one, as those in `ly` are: `not at all allowed`."""
_NO_DENIAL = {"only", "just", "merely", "until", "nur", "seulement"}
"""Words that turn a denial before them into something else: `not only`."""
_REACH = 4


class FactWord(NamedTuple):
    """A word, and how it stands in its text."""

    form: str
    """As it is compared: without case, and the same for a symbol and its name."""
    written: str
    is_denied: bool = False
    """Whether a word that denies stands before it, with nothing that matters between."""
    is_unit: bool = False
    """Whether it says what the number right before it counts."""

    @property
    def is_small(self) -> bool:
        """Whether it tells nothing."""
        is_short = len(self.written) <= _SMALL and self.written.islower()
        is_telling = self.form in DENYING or self.is_unit or not self.written.isalpha()
        return is_short and not is_telling


def fact_words(text: str) -> Iterator[FactWord]:
    """The words of a text in order; short forms are written out."""
    plain = _plain(text)
    reach = end = 0
    is_counted = False
    for found in _WORD.finditer(plain):
        start = found.start()
        form = _form(found)
        is_next = plain[end:start].isspace() or start == end
        is_denied = reach > 0 and is_next and form not in _NO_DENIAL
        yield FactWord(
            form=form,
            written=found[0],
            is_denied=is_denied,
            is_unit=is_counted and is_next and found[0].casefold() in _UNITS,
        )
        end, is_counted = found.end(), found["number"] is not None
        reach = _reach(form, reach - 1 if is_denied else 0)


def _reach(form: str, left: int) -> int:
    """How many words behind this one a denial still reaches."""
    if form in DENYING:
        return _REACH
    return left if form in _BETWEEN or form.endswith("ly") else 0


def _form(found: re.Match[str]) -> str:
    """A word as it is compared; a number with its sign, its magnitude or its letter."""
    folded = found[0].casefold()
    if found["number"] is None:
        return _SAME.get(folded, folded)
    magnitude = (found["magnitude"] or "").casefold()
    number = "".join(found["number"].split())
    return number + (_MAGNITUDES.get(magnitude) or magnitude) + (found["letter"] or "").casefold()


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    plain = _MINUS.sub("-", _GROUPING.sub("", plain))
    plain = _SIGN_BEFORE_SYMBOL.sub(r"\1 -", plain)
    plain = _DOTTED.sub(lambda found: f"{found[1]}m" if found[1] else "percent", plain)
    plain = _AT_LEAST.sub(lambda found: _SIGNS[found[1]], plain)
    return _SHORT_FORM.sub(lambda found: _SHORT.get(found[0].casefold(), " not"), plain)
