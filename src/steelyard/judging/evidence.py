"""Whether what a judge quotes is in the text that it judges."""

from __future__ import annotations

import re
import unicodedata

from steelyard.judging.delimiters import harmless

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
    }
)
_GAP = re.compile(r"\[?\.{3,}\]?")
_EDGES = " \"'.,;:"


def is_quoted(evidence: str, text: str) -> bool | None:
    """Whether a quote is in a text; None where nothing is quoted.

    White space, the kinds of quotes and dashes, and case do not count. `...` stands for
    anything: what is before and behind it must be there, in this order.
    """
    parts = [part.strip(_EDGES) for part in _GAP.split(_folded(evidence))]
    parts = [part for part in parts if part]
    if not parts:
        return None
    haystack, place = _folded(text), 0
    for part in parts:
        place = haystack.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True


def _folded(text: str) -> str:
    same = unicodedata.normalize("NFKC", harmless(text)).translate(_QUOTES).casefold()
    return " ".join(same.split())
