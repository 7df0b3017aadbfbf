"""Untrusted Markdown as safe HTML: no raw HTML, no images, no links that run or load anything."""

from __future__ import annotations

import re
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from steelyard.reports.page_budget import page_budget
from steelyard.reports.texts import plain_text

MAX_CHARACTERS = 200_000
"""A longer text is shown as it is: nobody reads it formatted, and it would take long."""
_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "a"),
}
_SIGN = re.compile(r"[^\w ]")
_SCHEMES = {"http", "https", "mailto"}


def safe_markdown(text: str) -> Markup:
    """HTML of a text that a model or a stranger wrote; plain beyond the budget of its page."""
    if len(text) > MAX_CHARACTERS or not page_budget().signs.spend(len(_SIGN.findall(text))):
        return plain_text(text)
    cleaned = nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(f'<div class="read md" dir="auto">{cleaned}</div>')  # noqa: S704 - cleaned


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    return parser.enable("table").enable("strikethrough").disable("image")
