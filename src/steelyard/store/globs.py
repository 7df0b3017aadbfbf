"""Glob patterns over paths with `/`, matched in linear time."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from steelyard.formats.encoding import without_surrogates

_re2 = cast(Any, re2)
_CHARACTERS = frozenset("*?[")
_TOKEN = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_pattern(text: str) -> bool:
    """Whether a path is a pattern for many."""
    return not _CHARACTERS.isdisjoint(text)


def matches(pattern: str, path: str) -> bool:
    """Whether a root-relative path matches; a pattern without a slash looks at the base name."""
    subject = path if "/" in pattern else path.rsplit("/", 1)[-1]
    compiled = _compiled(pattern.removeprefix("./"))
    return compiled.fullmatch(without_surrogates(subject)) is not None


@lru_cache
def _compiled(pattern: str) -> Any:
    text, place = "", 0
    for token in _TOKEN.finditer(pattern):
        text += _re2.escape(pattern[place : token.start()]) + _MEANING[token[0]]
        place = token.end()
    options = _re2.Options()
    options.log_errors = False
    options.dot_nl = True
    return _re2.compile(text + _re2.escape(pattern[place:]), options)
