"""The `Range` header (RFC 9110, 14): which part of a file is asked for."""

from __future__ import annotations

import re
from typing import NamedTuple

_ONE = re.compile(r"bytes[ \t]*=[ \t]*(\d*)[ \t]*-[ \t]*(\d*)[ \t]*", re.ASCII | re.IGNORECASE)
_DIGITS = 20


class ByteRange(NamedTuple):
    """A part of a file, from its first byte up to the one after its last."""

    begin: int
    end: int


class UnsatisfiableError(Exception):
    """No byte of the file is in the range."""


def asked_range(header: str | None, size: int) -> ByteRange | None:
    """The part that a header asks for; None where the whole is to be sent.

    A server may ignore the header, and does so with several ranges, other units, and what is no
    range at all.
    """
    found = _ONE.fullmatch(header) if header else None
    if found is None or max(map(len, found.groups())) > _DIGITS:
        return None
    first, last = found.groups()
    if not first:
        return _suffix(last, size)
    begin = int(first)
    end = min(int(last) + 1, size) if last else size
    if last and int(last) < begin:
        return None
    if begin >= size:
        raise UnsatisfiableError
    return ByteRange(begin, end)


def _suffix(length: str, size: int) -> ByteRange | None:
    """The last bytes of a file."""
    if not length:
        return None
    if not int(length) or not size:
        raise UnsatisfiableError
    return ByteRange(max(0, size - int(length)), size)
