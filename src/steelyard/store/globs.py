"""Glob patterns over paths with `/`."""

from __future__ import annotations

import re

_CHARACTERS = frozenset("*?[")
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_pattern(text: str) -> bool:
    """Whether a path is a pattern for many."""
    return not _CHARACTERS.isdisjoint(text)


def matches(pattern: str, path: str) -> bool:
    """Whether a root-relative path matches; a pattern without a slash looks at the base name."""
    subject = path if "/" in pattern else path.rsplit("/", 1)[-1]
    expression = _expression(pattern.removeprefix("./"))
    return re.fullmatch(expression, subject, re.DOTALL) is not None


def _expression(pattern: str) -> str:
    text, place = "", 0
    for token in _TOKEN.finditer(pattern):
        text += re.escape(pattern[place : token.start()]) + _MEANING[token[0]]
        place = token.end()
    return text + re.escape(pattern[place:])
