"""Marks what a judge quotes within the HTML of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from markupsafe import Markup, escape

from steelyard.reports.page_budget import page_budget

Mark: TypeAlias = Literal["pass", "fail", "plain"]
_SHORTEST = 8
"""A shorter quotation stands in too many places to mean one of them."""
_SPACE = re.compile(r"\s+")


class Quotation(NamedTuple):
    """A text that a judge has quoted, and what it says with it."""

    text: str
    mark: Mark = "plain"


def marked(html: Markup, quotations: Sequence[Quotation]) -> Markup:
    """The same HTML in which quotations are marked that stand in one piece of text."""
    text = str(html)
    for quotation in quotations:
        wanted = quotation.text.strip().strip("…").strip()
        if len(wanted) < _SHORTEST:
            continue
        if not page_budget().searched.spend(len(text)):
            break
        pattern = r"\s+".join(re.escape(word) for word in _SPACE.split(str(escape(wanted))))
        place = next((one for one in re.finditer(pattern, text) if _is_text(text, one)), None)
        if place:
            held = f'<mark class="{quotation.mark}">{place[0]}</mark>'
            text = f"{text[: place.start()]}{held}{text[place.end() :]}"
    return Markup(text)  # noqa: S704 - HTML that was safe, with marks around parts of its text


def _is_text(html: str, place: re.Match[str]) -> bool:
    """Whether a match stands between tags, and not within one."""
    before = html.rfind("<", 0, place.start()) <= html.rfind(">", 0, place.start())
    return before and "<" not in place[0] and ">" not in place[0]
