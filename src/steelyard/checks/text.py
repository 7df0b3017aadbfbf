"""Text comparison that several kinds share."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Annotated, TypeAlias

from steelyard.checks.setting_rules import Rule
from steelyard.errors import SettingError

_TYPOGRAPHIC = {
    "'": "'\u2018\u2019\u201a\u201b\u02bc\u2032",
    '"': '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb',
    "-": "\\-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
}
"""What a keyboard has one character for, and typography several."""


def fold(text: str, *, ignore_case: bool) -> str:
    """The text as it is compared: characters and marks put together, perhaps without case."""
    if text.isascii():
        return text.lower() if ignore_case else text
    composed = unicodedata.normalize("NFC", text)
    # Without case, characters may fall apart again.
    return unicodedata.normalize("NFC", composed.casefold()) if ignore_case else composed


class Phrase:
    """A phrase that is looked for in folded texts.

    Its ASCII quotes and hyphens stand for the typographic ones too; a typographic character
    stands for itself alone.
    """

    __slots__ = ("_length", "_pattern", "_text")

    def __init__(self, phrase: str, *, ignore_case: bool) -> None:
        self._text = fold(phrase, ignore_case=ignore_case)
        self._length = len(self._text)
        self._pattern: re.Pattern[str] | None = None
        for mark in _TYPOGRAPHIC:
            if mark in self._text:
                self._pattern = _pattern(self._text)
                break

    def is_in(self, given: str) -> bool:
        """Whether a text contains it."""
        return bool(self._pattern.search(given)) if self._pattern else self._text in given

    def begins(self, given: str) -> bool:
        """Whether a text begins with it."""
        return self._is_all_of(given[: self._length])

    def ends(self, given: str) -> bool:
        """Whether a text ends with it."""
        return self._is_all_of(given[max(0, len(given) - self._length) :])

    def _is_all_of(self, part: str) -> bool:
        return bool(self._pattern.fullmatch(part)) if self._pattern else self._text == part


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    parts = (f"[{_TYPOGRAPHIC[one]}]" if one in _TYPOGRAPHIC else re.escape(one) for one in text)
    return re.compile("".join(parts))


PhraseText: TypeAlias = Annotated[str, Rule("A phrase; not empty.", {"minLength": 1})]


def require_phrases(phrases: tuple[str, ...]) -> None:
    """An empty phrase is a SettingError: every response contains it."""
    if "" in phrases:
        raise SettingError("phrases", "a phrase must not be empty")


def require_text(value: str) -> None:
    """A blank value is a SettingError: every response begins and ends with it."""
    if not value.strip():
        raise SettingError("value", "the value must not be blank")


_CUT_WORD = re.compile(r"(?:\d[\d -]*|[\w@.+/=-]+)\Z")
_SHOWN_OF_WORD = 8


def clip(text: str, limit: int = 60) -> str:
    """A text short enough for a reason.

    Redaction finds whole numbers, keys and addresses: of one that is cut, little is shown.
    """
    flat = " ".join(text.split())
    if len(flat) <= limit:
        return flat
    shown = flat[: limit - 1]
    is_cut = flat[limit - 1] != " " or shown[-1].isdigit()
    if is_cut and (word := _CUT_WORD.search(shown)):
        shown = shown[: word.start() + _SHOWN_OF_WORD]
    return f"{shown}…"
