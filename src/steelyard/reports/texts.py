"""Untrusted texts in pages: as they are, and no longer than anybody reads."""

from __future__ import annotations

from markupsafe import Markup

_LONG = 6_000
_KEPT = 2_000
MAX_ANSWER = 20_000
"""The most characters of an answer on a page that shows many."""
WHOLE = 200_000
"""The most characters of one text that a page holds; the rest is in the raw JSON."""


def plain_text(text: str) -> Markup:
    """A text as it is, with its line breaks."""
    return Markup('<div class="read plain" dir="auto">{}</div>').format(text)


def beginning(text: str) -> str | None:
    """The first lines of a long text; None for one that is shown as a whole."""
    if len(text) <= _LONG:
        return None
    end = text.rfind("\n", _KEPT // 2, _KEPT)
    return text[: end if end > 0 else _KEPT]


def whole(text: str) -> str:
    """As much of a text as a page holds."""
    return text[:WHOLE]
