"""JSON text with every string in Unicode NFC, as servers demand of dataset documents."""

from __future__ import annotations

import re
import unicodedata

_ESCAPE = re.compile(
    r"\\u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u(?P<code>[0-9a-fA-F]{4})"
    r"|\\.",
    re.DOTALL,
)
_KEPT = re.compile(r"(\\(?:u[0-9a-fA-F]{4}|.))", re.DOTALL)

_ESCAPED = frozenset(
    map(chr, (*range(0x20), 0x22, 0x5C, *range(0x7F, 0xA0), *range(0xD800, 0xE000)))
)


def is_plain(data: bytes) -> bool:
    """Whether NFC surely changes nothing: a part of a text that is ASCII and escapes no character
    by its number."""
    return data.isascii() and b"\\u" not in data and not data.endswith(b"\\")


def composed_json(data: bytes) -> bytes:
    """JSON with its strings and keys in NFC; all else stays as it was written.

    No mark of JSON's own can be composed with what follows it, but the letter of an escape can.
    What is not UTF-8 is left to the server, which says where.
    """
    if is_plain(data):
        return data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    parts = _KEPT.split(_ESCAPE.sub(_written_out, text))
    parts[::2] = [unicodedata.normalize("NFC", part) for part in parts[::2]]
    return "".join(parts).encode("utf-8")


def _written_out(escape: re.Match[str]) -> str:
    """The character that an escape stands for, unless it must be escaped or is no text."""
    high, low, code = escape.group("high", "low", "code")
    if high:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    if not code or chr(int(code, 16)) in _ESCAPED:
        return escape[0]
    return chr(int(code, 16))
