"""Untrusted text in Markdown: shown as it is, without markup, links or mentions."""

from __future__ import annotations

import html
import re

from steelyard.reports.findings import printable

_JOINER = "\u2060"
"""Invisible; it parts what GitHub and GitLab would otherwise link, also inside HTML."""
# An underscore between letters is not markup, and common in names.
_MARKUP = re.compile(r"[\\`*\[\]<>|~&#$]|(?<!\w)_|_(?!\w)")
_LINKED = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\d)|(?=://)|(?<=\bwww)(?=\.)", re.IGNORECASE)
_TICKS = re.compile("`+")
_CHARACTERS = 600
_LINES = 15


def escaped(text: str) -> str:
    """A text as one line of Markdown."""
    return _MARKUP.sub(r"\\\g<0>", unlinked(text))


def html_line(text: str) -> str:
    """A text as one line of HTML within Markdown."""
    return html.escape(unlinked(text))


def unlinked(text: str) -> str:
    """One line in which nobody is mentioned, and no address or issue is linked."""
    return _LINKED.sub(_JOINER, printable(text, " "))


def fenced(text: str, *, is_whole: bool = False) -> str:
    """A text as a code block, which ends nowhere inside the text; a long one is cut."""
    begin = text if is_whole else cut(text)
    shown = "\n".join(printable(line) for line in begin.split("\n"))
    longest = max(map(len, _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def cut(text: str, most: int = _CHARACTERS) -> str:
    """The beginning of a text; its length is named where something is left out."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").expandtabs(4).split("\n")
    shown = "\n".join(lines[:_LINES])[:most]
    if shown == "\n".join(lines):
        return shown
    return f"{shown} … ({len(text):,} characters)"
