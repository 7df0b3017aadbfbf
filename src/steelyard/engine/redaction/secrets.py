"""Secrets that a text gives away by the name before them, and keys without a prefix."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

from steelyard.engine.redaction.text import TextSpan

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
_OPTION = re.compile(
    rf"(?<![\w-])--(?:[a-z]{{1,20}}-){{0,2}}(?:{_WORDS}|{_NAMED})[ \t]{{1,3}}"
    r"(?P<quote>[\"']?)(?P<value>[^\s\"'<>(){}\[\]$*=|&;`-][^\s\"'|&;`<>]{0,199})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"[A-Za-z][0-9A-Za-z+.-]{1,20}://[^\s/:@\"'<>]{0,100}:(?P<value>[^\s/@\"'<>${][^\s/@\"'<>]{0,199})@(?=\w)"
)
_AUTHORIZED = re.compile(
    r"authorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<scheme>bearer|basic|token)[ \t]{1,3}"
    r"(?P<value>[0-9A-Z._~+/=-]{4,4000})",
    re.IGNORECASE,
)
RAW_OPTION = rb"(?i)--[a-z-]{0,60}(?:passw(?:or)?d|passphrase|pwd|secret|key|token)(?:[ ]|\\t)"
RAW_ADDRESS = rb"://[^/\s\"@]*:[^/\s\"@]+@"
RAW_AUTHORIZED = rb"(?i)authorization[\\\"']{0,8}(?:\s|\\[nrt]){0,3}[=:]"
"""The same three in a JSON text."""
_NO_VALUES = frozenset(("none", "null", "true", "false", "undefined", "required", "string"))
_NAME = re.compile(r"([A-Za-z_.]+)[^0-9A-Za-z]?")
_AWS_SECRET = re.compile(r"(?<![0-9A-Za-z/+=])[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])")
_PROSE = re.compile(
    r"an?|and|argument|as|at|by|can|flag|for|from|if|in|instead|is|must|not|on|option|or|parameter"
    r"|so|switch|that|the|then|too?|value|was|when|with",
    re.IGNORECASE,
)
_ONE_WORD = re.compile(r"([A-Za-z]+)[^0-9A-Za-z]*")
_COMMAND_GOES_ON = re.compile(r"\s+--?\w|[ \t]*(?:[\n\r;|&`\"']|$)")
_TOKEN_SIGNS = 16
_LEAST = 8
"""So many capitals, and so many small letters, a random key of forty signs has at least."""


def given_secrets(text: str) -> Iterator[TextSpan]:
    """Values of `password=…`, `"api_key": "…"` and the like."""
    for match in _GIVEN.finditer(text):
        if _is_secret(match, text):
            yield TextSpan(*match.span("value"))


def sent_secrets(text: str) -> Iterator[TextSpan]:
    """Values of password options, `https://user:…@host` and `Authorization: Basic …`."""
    for match in _OPTION.finditer(text) if "--" in text else ():
        if _is_given_to(match, text):
            yield TextSpan(*match.span("value"))
    for match in _ADDRESS.finditer(text) if "://" in text else ():
        yield TextSpan(*match.span("value"))
    for match in _AUTHORIZED.finditer(text):
        if _is_credential(match["scheme"].lower(), match["value"]):
            yield TextSpan(*match.span("value"))


def _is_given_to(match: re.Match[str], text: str) -> bool:
    """Whether a word after an option is its value, and not the next one of a sentence."""
    value = match["value"]
    if match["quote"] or any(sign.isdigit() for sign in value):
        return True
    word = _ONE_WORD.fullmatch(value)
    if word is None:
        return True
    if word[1].isupper() or word[1].lower() in _NO_VALUES or _PROSE.fullmatch(word[1]):
        return False
    return bool(_COMMAND_GOES_ON.match(text, match.end()))


def _is_credential(scheme: str, value: str) -> bool:
    """Whether what follows a scheme is no word about it."""
    if scheme != "basic":
        return len(value) >= _TOKEN_SIGNS or any(sign.isdigit() for sign in value)
    try:
        return b":" in b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False


def aws_secrets(text: str) -> Iterator[TextSpan]:
    """Secret access keys: forty signs of base64, as mixed as only chance mixes them."""
    for match in _AWS_SECRET.finditer(text):
        found = match[0]
        capitals = sum(sign.isupper() for sign in found)
        small = sum(sign.islower() for sign in found)
        if min(capitals, small) >= _LEAST and any(sign.isdigit() for sign in found):
            yield TextSpan(*match.span())


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
