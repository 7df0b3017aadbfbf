"""Bytes to a header and unparsed records, so that one record at a time need be in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import msgspec

from steelyard.contracts.dataset_document.second_look import (
    look_again,
    masked,
    outermost,
    trimmed,
)
from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_keys import keys_given_again, repeated_keys
from steelyard.formats.json_text import (
    SecondLook,
    compact,
    parse_json,
    raw_items,
    raw_members,
    too_deep,
)
from steelyard.formats.problem import Problem, under
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue

RawRecord = msgspec.Raw | bytes
# What stands before the value of a member, and after that of the last.
_BEFORE = re.compile(rb'\s*[{,]\s*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*')
_END = re.compile(rb"\s*}\s*")


class Document(FrozenStruct, frozen=True, kw_only=True):
    """A dataset document taken apart: header fields, and records as they are written."""

    header: JsonObject
    records: Sequence[RawRecord] | None
    problems: tuple[Problem, ...] = ()
    """What the fast parser could not read in the header."""


def split_json(data: bytes) -> Document:
    """Take a JSON document apart; a ParseError means that it is none at all."""
    require_utf8(data)
    data = without_bom(data)
    try:
        members = raw_members(data)
    except ParseError as wrong:
        if wrong.code != "invalid_json":
            raise
        return _split_odd(data)
    return _document(members, _listed(members), _repeated(data, members))


def split_value(value: JsonObject) -> Document:
    """Take a document apart that was read from YAML."""
    header = dict(value)
    records = header.get("records")
    if not isinstance(records, list):
        return Document(header=header, records=None)
    del header["records"]
    return Document(header=header, records=[compact(record) for record in records])


def _split_odd(data: bytes) -> Document:
    """Take a document apart in which a string or a nest stops the fast parser."""
    mask = masked(data)
    readable = _members(mask.data)
    listed = _listed(readable)
    records = None if listed is None else [mask.unmasked(bytes(raw)) for raw in listed]
    members: dict[str, bytes] = {}
    problems: list[Problem] = []
    for written, raw in readable.items():
        look = look_again(mask.unmasked(json.dumps(written).encode("ascii")))
        name = look.value
        assert isinstance(name, str)
        problems.extend(under((name,), problem) for problem in look.problems)
        members[name] = mask.unmasked(bytes(raw))
    return _document(members, records, problems)


def _members(data: bytes) -> dict[str, msgspec.Raw]:
    try:
        return raw_members(data)
    except ParseError as wrong:
        # Trimming a large text takes seconds, so it is done only where it can help.
        if str(wrong) != str(too_deep()):
            raise
        return raw_members(trimmed(data))


def _listed(members: Mapping[str, msgspec.Raw]) -> list[msgspec.Raw] | None:
    return raw_items(members["records"]) if "records" in members else None


def _document(
    members: Mapping[str, RawRecord],
    records: Sequence[RawRecord] | None,
    problems: list[Problem],
) -> Document:
    header: JsonObject = {
        name: _parsed(name, bytes(raw), problems)
        for name, raw in members.items()
        if records is None or name != "records"
    }
    return Document(header=header, records=records, problems=tuple(problems))


def _repeated(data: bytes, members: Mapping[str, msgspec.Raw]) -> list[Problem]:
    """The fields that a document gives twice at its top level."""
    if _is_all(data, members):
        return []
    return keys_given_again(outermost(data))


def _is_all(data: bytes, members: Mapping[str, msgspec.Raw]) -> bool:
    """Whether a document is these members and nothing else: what a parser drops is not theirs."""
    place = 0
    for raw in members.values():
        before = _BEFORE.match(data, place)
        if not before or not data.startswith(raw, before.end()):
            return False
        place = before.end() + len(raw)
    return bool(_END.fullmatch(data, place))


def _parsed(name: str, raw: bytes, problems: list[Problem]) -> JsonValue:
    try:
        look = SecondLook(parse_json(raw), ())
    except ParseError:
        look = look_again(raw)
    found = (*look.problems, *repeated_keys(raw, look.value))
    problems.extend(under((name,), problem) for problem in found)
    return look.value
