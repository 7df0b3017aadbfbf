"""Bytes to a header and unparsed records, so that one record at a time need be in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import (
    compact,
    parse_json,
    parse_json_tolerantly,
    raw_items,
    raw_members,
    repaired_json,
)
from steelyard.formats.problem import Problem, under
from steelyard.model.json_value import JsonObject, JsonValue

RawRecord = msgspec.Raw | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A dataset document taken apart: header fields, and records as they are written."""

    header: JsonObject
    records: Sequence[RawRecord] | None
    problems: tuple[Problem, ...] = ()
    """Values of the header that no parser can hold."""


def split_json(data: bytes) -> Document:
    """Take a JSON document apart; a ParseError means that it is none at all."""
    require_utf8(data)
    data = without_bom(data)
    try:
        return _document(raw_members(data), None)
    except ParseError as error:
        repaired = repaired_json(data)
        if repaired == data:
            raise error from None
        return _document(raw_members(repaired), data)


def split_value(value: JsonObject) -> Document:
    """Take a document apart that was read from YAML."""
    records = value.get("records")
    listed = [compact(record) for record in records] if isinstance(records, list) else None
    header = {name: item for name, item in value.items() if name != "records"}
    if "records" in value and listed is None:
        header["records"] = records
    return Document(header=header, records=listed)


def _document(members: dict[str, msgspec.Raw], original: bytes | None) -> Document:
    header: JsonObject = {}
    problems: list[Problem] = []
    records: Sequence[RawRecord] | None = None
    for name, raw in members.items():
        listed = raw_items(raw) if name == "records" else None
        if listed is not None:
            records = _originals(raw, listed, original) if original else listed
        else:
            header[name] = _parsed(name, bytes(raw), problems)
    return Document(header=header, records=records, problems=tuple(problems))


def _parsed(name: str, raw: bytes, problems: list[Problem]) -> JsonValue:
    try:
        return parse_json(raw)
    except ParseError:
        look = parse_json_tolerantly(raw, raw_controls=True)
        problems.extend(under((name,), problem) for problem in look.problems)
        return look.value


def _originals(
    container: msgspec.Raw, repaired: Sequence[msgspec.Raw], original: bytes
) -> list[RawRecord]:
    """The records as they really are: the repaired ones only show where each begins and ends."""
    array = bytes(container)
    start = repaired_json(original).find(array)
    records: list[RawRecord] = []
    place = 0
    for raw in repaired:
        text = bytes(raw)
        place = array.find(text, place)
        records.append(original[start + place : start + place + len(text)])
        place += len(text)
    return records
