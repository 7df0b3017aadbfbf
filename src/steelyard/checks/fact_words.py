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
_SHORT_FORM = re.compile(r"\b(?:can't|cannot|won't|shan't)\b|(?<=[^\W\d_])n't\b", re.IGNORECASE)
_DOTTED = re.compile(r"\b([ap])\.m\b\.?|\bper cent\b", re.IGNORECASE)
_WORD = re.compile(r"(?:(?<![\w-])-)?\d+(?:[.:]\d+)*|[^\W\d_]+|[%‰$€£¥₹]|[<>≤≥](?=\s*\d)")
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
        *("keine", "keinen", "nunca"),
    )
)
_UNITS = frozenset(
    (
        *("eur", "usd", "gbp", "chf", "jpy", "cny", "inr", "km", "m", "cm", "mm"),
        *("kg", "g", "mg", "t", "l", "ml", "s", "ms", "h", "min", "kb"),
        *("mb", "gb", "tb", "w", "kw", "mw", "v", "hz", "ft", "lb", "oz"),
        *("mi", "am", "pm", "mn", "bn"),
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


class FactWord(NamedTuple):
    """A word, and how it stands in its text."""

    form: str
    """As it is compared: without case, and the same for a symbol and its name."""
    written: str
    is_denied: bool = False
    """Whether a word that denies stands right before it."""
    is_unit: bool = False
    """Whether it says what the number right before it counts."""

    @property
    def is_small(self) -> bool:
        """Whether it tells nothing."""
        is_short = len(self.written) <= _SMALL and self.written.islower()
        return is_short and self.form not in DENYING and not self.is_unit


def fact_words(text: str) -> Iterator[FactWord]:
    """The words of a text in order; short forms are written out."""
    plain = _plain(text)
    denied_at = end = 0
    before = ""
    for found in _WORD.finditer(plain):
        start, written = found.start(), found[0]
        folded = written.casefold()
        form = _SAME.get(folded, folded)
        is_next = plain[end:start].isspace() or start == end
        yield FactWord(
            form=form,
            written=written,
            is_denied=bool(denied_at) and denied_at == end and is_next,
            is_unit=folded in _UNITS and is_next and before[-1:].isdigit(),
        )
        end, before = found.end(), written
        if form in DENYING:
            denied_at = end


def _plain(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).replace("’", "'")
    plain = _MINUS.sub("-", _GROUPING.sub("", plain))
    plain = _SIGN_BEFORE_SYMBOL.sub(r"\1 -", plain)
    plain = _DOTTED.sub(lambda found: f"{found[1]}m" if found[1] else "percent", plain)
    return _SHORT_FORM.sub(lambda found: _SHORT.get(found[0].casefold(), " not"), plain)
