"""A second look at JSON that the fast parser refuses for the sake of one string or one nest."""

from __future__ import annotations

import re

from steelyard.errors import ParseError
from steelyard.formats.json_text import (
    MAX_DEPTH,
    SecondLook,
    parse_json_tolerantly,
)
from steelyard.formats.problem import Problem
from steelyard.model.frozen_struct import FrozenStruct

# Tab, line feed and carriage return are not here: in a string they are wrong JSON and no more.
_CONTROLS = (*range(9), 11, 12, *range(14, 32))
# These patterns begin with a backslash, which the search then leaps to.
_BROKEN_ESCAPE = re.compile(rb"\\(?<!\\\\)(?:\\\\)*+[\x00-\x1f]")
# An escaped backslash, whose second half begins no escape; a pair of surrogates; a lone one.
_SURROGATES = re.compile(
    rb"\\(?:\\"
    rb"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(u[dD][89a-fA-F][0-9a-fA-F]{2}))"
)
_LONE = b"\\ud800"
_PRIVATE_USE = range(0xE000, 0xF900)
_MARK = re.compile(rb'\\.|["\[\]{}]', re.DOTALL)
_BLANKS = bytes(code if code == ord("\n") else ord(" ") for code in range(256))
# A document is one level and its list of records another; one more shows what is too deep.
_DOCUMENT_DEPTH = 2 + MAX_DEPTH + 1


class Masked(FrozenStruct, frozen=True):
    """A document whose strings the fast parser can read: a stand-in for each lone surrogate."""

    data: bytes
    stand_in: bytes

    def unmasked(self, raw: bytes) -> bytes:
        """A part of the document with a lone surrogate wherever it had one."""
        return raw.replace(self.stand_in, _LONE)


def masked(data: bytes) -> Masked:
    """Make the strings of a document readable; what is no JSON stays none."""
    if not _BROKEN_ESCAPE.search(data):
        for code in _CONTROLS:
            data = data.replace(bytes((code,)), b"\\u%04x" % code)
    stand_in = _stand_in(data)
    data = _SURROGATES.sub(lambda found: stand_in if found[1] else found[0], data)
    return Masked(data, stand_in)


def trimmed(data: bytes) -> bytes:
    """A document without what is too deep in it, but for the one level that shows it."""
    return _shallow(data, _DOCUMENT_DEPTH)


def outermost(data: bytes) -> bytes:
    """A document without what its members hold, but for texts and numbers."""
    return _shallow(data, 1)


def look_again(raw: bytes) -> SecondLook:
    """What can be read of a value whose syntax is right, and what stopped the fast parser."""
    try:
        return parse_json_tolerantly(raw)
    except ParseError:
        look = parse_json_tolerantly(_shallow(raw, MAX_DEPTH))
        message = f"{{}} is nested deeper than {MAX_DEPTH} levels"
        problem = Problem(code="value_out_of_range", message=message)
        return SecondLook(look.value, (problem, *look.problems))


def _stand_in(data: bytes) -> bytes:
    """The escape of a character that the document does not have; at the worst of a NUL."""
    for code in _PRIVATE_USE:
        escape = b"\\u%04x" % code
        if escape not in data and chr(code).encode() not in data:
            return escape
    return b"\\u0000"


def _shallow(data: bytes, levels: int) -> bytes:
    """The same lines with a 0 for every value that nests deeper than so many levels."""
    kept: list[bytes] = []
    level = place = start = 0
    is_quoted = False
    for found in _MARK.finditer(data):
        mark = found[0]
        if mark == b'"':
            is_quoted = not is_quoted
        elif is_quoted:
            continue
        elif mark in b"[{":
            level += 1
            if level == levels + 1:
                start = found.start()
        elif mark in b"]}":
            if level == levels + 1:
                blank = data[start + 1 : found.end()].translate(_BLANKS)
                kept += (data[place:start], b"0", blank)
                place = found.end()
            level -= 1
    kept.append(data[place:])
    return b"".join(kept)
