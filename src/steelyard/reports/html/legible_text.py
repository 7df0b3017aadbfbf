"""Texts of models in a finished page: what is invisible is shown, and what cannot break can.

A browser needs minutes to wrap a word of 100,000 letters, direction marks reorder what a reader
sees, and hundreds of marks over one letter widen a page. The text itself stays as it was: what is
added is no text, so that it is copied and searched unchanged.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_PIECE_LENGTH = 20
_COMBINING = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
_SHORT_NAMES: Final = {
    "\u00ad": "SHY",
    "\u034f": "CGJ",
    "\u061c": "ALM",
    "\u180e": "MVS",
    "\u200b": "ZWSP",
    "\u200c": "ZWNJ",
    "\u200d": "ZWJ",
    "\u200e": "LRM",
    "\u200f": "RLM",
    "\u202a": "LRE",
    "\u202b": "RLE",
    "\u202c": "PDF",
    "\u202d": "LRO",
    "\u202e": "RLO",
    "\u2060": "WJ",
    "\u2061": "FA",
    "\u2062": "IT",
    "\u2063": "IS",
    "\u2064": "IP",
    "\u2066": "LRI",
    "\u2067": "RLI",
    "\u2068": "FSI",
    "\u2069": "PDI",
    "\u3164": "HF",
    "\ufeff": "BOM",
}
_JOINERS = "\u200c\u200d"
_ALWAYS = "".join(one for one in _SHORT_NAMES if one not in _JOINERS)
# Joiners belong to emoji and to scripts such as Persian; between Latin letters they hide.
_INVISIBLE = re.compile(
    rf"[{_ALWAYS}]|(?<=[!-\u024f])[{_JOINERS}]|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])"
    r"[\U000e0001-\U000e007f]+"
)
_LONG_WORD = re.compile(r"[!-;=?-~\u00a1-\u02af]{300,}|[^\s<>\u2e80-\uffef]{2000,}")
_STACKED = re.compile(rf"[{_COMBINING}]{{8}}(?=[{_COMBINING}])")
_PIECE = re.compile(
    rf"(?:&#?\w{{1,8}};|.){{1,{_PIECE_LENGTH}}}[{_COMBINING}{_JOINERS}\ufe0f]*", re.DOTALL
)
_NEEDS = re.compile(
    rf"{_INVISIBLE.pattern}|{_STACKED.pattern}|(?<![^\s<>])(?:{_LONG_WORD.pattern})"
)
_PART = re.compile(
    r"<(script|style|textarea|template|title|option)\b.*?</\1\s*>"
    r"|<[A-Za-z/!](?:[^>\"']|\"[^\"]*\"|'[^']*')*>|(?P<text>[^<]+)",
    re.DOTALL | re.IGNORECASE,
)


def legible(html: str) -> str:
    """The page with its texts made legible; elements and their attributes stay as they are."""
    return _PART.sub(_part, html) if _NEEDS.search(html) else html


def _part(found: re.Match[str]) -> str:
    text = found["text"]
    if text is None or not _NEEDS.search(text):
        return found[0]
    text = _LONG_WORD.sub(lambda word: "<wbr>".join(_PIECE.findall(word[0])), text)
    text = _STACKED.sub(r"\g<0><wbr>", text)
    return _INVISIBLE.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    """An invisible character with its name before it, which is no part of the text."""
    text = found[0]
    name = _SHORT_NAMES.get(text, f"{len(text)} tags")
    about = unicodedata.name(text[0], "a character that only programs read").lower()
    code = f"U+{ord(text[0]):04X}"
    return f'<span class="unseen" data-name="{name}" title="{code} {about}">{text}</span>'
