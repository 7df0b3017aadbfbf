"""Take a member of ours out of a posted document, whose other bytes stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from steelyard.contracts.dataset_document.second_look import masked, trimmed
from steelyard.errors import InvalidError, ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import parse_json, raw_members, too_deep
from steelyard.model.json_value import JsonValue

if TYPE_CHECKING:
    import msgspec

# What stands before the value of a member: the mark, then the name.
_BEFORE = re.compile(rb'\s*([{,])\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*')
_COMMA = re.compile(rb"\s*,\s*")


class TakenOut(NamedTuple):
    """A document without a member, and the value of that."""

    document: bytes
    value: JsonValue
    names: tuple[str, ...]
    """The names of its other members."""


def take_out(data: bytes, name: str) -> TakenOut | None:
    """A document without a member; None where it has none, or is no object at all."""
    try:
        require_utf8(data)
        text, readable, members = _members(without_bom(data))
    except ParseError:
        return None  # whoever validates it says what is wrong
    if name not in members:
        return None
    begin, end = _span(readable, members, name)
    left = tuple(other for other in members if other != name)
    value = _parsed(bytes(members[name]), name)
    return TakenOut(text[:begin] + text[end:], value, left)


def _members(text: bytes) -> tuple[bytes, bytes, Mapping[str, msgspec.Raw]]:
    """A document, the same in a form of the same length that can be read, and its members."""
    try:
        return text, text, raw_members(text)
    except ParseError as wrong:
        if wrong.code != "invalid_json":
            raise
    mask = masked(text)
    readable = mask.data
    try:
        members = raw_members(readable)
    except ParseError as wrong:
        if str(wrong) != str(too_deep()):
            raise
        readable = trimmed(readable)
        members = raw_members(readable)
    return mask.unmasked(mask.data), readable, members


def _span(text: bytes, members: Mapping[str, msgspec.Raw], name: str) -> tuple[int, int]:
    """Where a member begins and ends, with one of the commas beside it."""
    place = 0
    for other, raw in members.items():
        before = _BEFORE.match(text, place)
        if not before or not text.startswith(raw, before.end()):
            break
        place = before.end() + len(raw)
        if other != name:
            continue
        if before[1] == b",":
            return before.start(1), place
        comma = _COMMA.match(text, place)
        return before.end(1), comma.end() if comma else place
    raise InvalidError("a name is given twice at the top level of the document")


def _parsed(raw: bytes, name: str) -> JsonValue:
    try:
        return parse_json(raw)
    except ParseError as wrong:
        raise InvalidError(f"{name}: {wrong}") from None
