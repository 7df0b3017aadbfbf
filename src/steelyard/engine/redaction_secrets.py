"""Secrets that a text gives away by the name before them, and keys without a prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.engine.redaction_text import Span

_WORDS = r"passw(?:or)?d|passphrase|pwd"
_NAMED = (
    r"secret(?:[_-]?access)?(?:[_-]?key)?|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|(?:access|auth)[_-]?token"
)
_GIVEN = re.compile(
    rf"(?:(?P<password>{_WORDS})|{_NAMED})[\"']?\s{{0,3}}"
    r"(?:(?P<sign>=)\s{0,3}|:(?=[ \"']) ?)"
    r"(?P<quote>[\"']?)(?P<value>[^\s\"'&;,<>(){}\[\]$*=][^\s\"'&;,<>(){}\[\]]{3,199})",
    re.IGNORECASE,
)
RAW_GIVEN = (
    rb"(?i)(?:passw(?:or)?d|passphrase|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|api[_-]?key"
    rb"|access[_-]?key|private[_-]?key|(?:access|auth)[_-]?token)[\\\"']{0,8}"
    rb"(?:\s|\\[nrt]){0,3}[=:]"
)
"""The same in a JSON text, whose strings have escapes."""
RAW_AWS = rb"(?:[^0-9A-Za-z/+=]|\\[bfnrt])[0-9A-Za-z/+]{40}(?:[^0-9A-Za-z/+=])"
"""Forty signs of base64 in a JSON text."""
_NO_VALUES = frozenset(("none", "null", "true", "false", "undefined", "required", "string"))
_NAME = re.compile(r"([A-Za-z_.]+)[^0-9A-Za-z]?")
_AWS_SECRET = re.compile(r"(?<![0-9A-Za-z/+=])[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])")
_LEAST = 8
"""So many capitals, and so many small letters, a random key of forty signs has at least."""


def given_secrets(text: str) -> Iterator[Span]:
    """Values of `password=…`, `"api_key": "…"` and the like."""
    for match in _GIVEN.finditer(text):
        if _is_secret(match, text):
            yield Span(*match.span("value"))


def aws_secrets(text: str) -> Iterator[Span]:
    """Secret access keys: forty signs of base64, as mixed as only chance mixes them."""
    for match in _AWS_SECRET.finditer(text):
        said = match[0]
        capitals = sum(sign.isupper() for sign in said)
        small = sum(sign.islower() for sign in said)
        if min(capitals, small) >= _LEAST and any(sign.isdigit() for sign in said):
            yield Span(*match.span())


def _is_secret(match: re.Match[str], text: str) -> bool:
    """Whether a value is one, and neither a word of prose nor a name in a program."""
    value, is_quoted = match["value"], bool(match["quote"])
    if value.lower() in _NO_VALUES or text[match.end() : match.end() + 1] in {"(", "["}:
        return False
    name = _NAME.fullmatch(value)
    if value.startswith("//") or (name and _GIVEN.search(f"{name[1]}=xxxx")):
        return False
    has_digit = any(sign.isdigit() for sign in value)
    is_plain = match["password"] and (is_quoted or match["sign"])
    return bool(is_plain) or has_digit
