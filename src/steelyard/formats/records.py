"""Records of JSONL, JSON and CSV files, one at a time: objects, or why there is none."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import msgspec

from steelyard.errors import ParseError
from steelyard.formats.encoding import require_utf8, without_bom
from steelyard.formats.json_text import parse_json, raw_items
from steelyard.formats.jsonl import MAX_LINE, jsonl_lines
from steelyard.model.json_value import JsonObject

_SEPARATOR = re.compile(rb'(?:\xef\xbb\xbf)?"?sep=([,;\t|])"?\r?(?:\n|$)', re.IGNORECASE)
_SIGN = re.compile(r"sep=.?", re.IGNORECASE)
MAX_JSON = 1024 * 1024 * 1024


class Record(NamedTuple):
    """One object of a file, with its place; without a value, `fault` says what is wrong."""

    place: str
    value: JsonObject | None
    fault: str = ""


def jsonl_records(stream: BinaryIO) -> Iterator[Record]:
    """The object of every line that is not blank."""
    for number, line in jsonl_lines(stream):
        place = f"line {number}"
        if len(line) > MAX_LINE:
            yield Record(place, None, "the line is longer than 64 MB")
        else:
            yield _parsed(place, line)


def json_records(stream: BinaryIO) -> Iterator[Record]:
    """The objects of a JSON list; raises ParseError when the file is none."""
    data = stream.read(MAX_JSON + 1)
    if len(data) > MAX_JSON:
        raise ParseError("the file is larger than 1 GB; write JSONL", code="payload_too_large")
    require_utf8(data)
    # One odd record must not spoil the list: parsing each on its own keeps the others.
    try:
        items = raw_items(msgspec.Raw(without_bom(data)))
    except msgspec.DecodeError:
        parse_json(without_bom(data))  # says what is wrong, and where
        items = None
    if items is None:
        raise ParseError("the top level must be a list of objects", code="invalid_field_type")
    for number, raw in enumerate(items, start=1):
        yield _parsed(f"item {number}", bytes(raw))


def csv_delimiter(head: bytes) -> str:
    """The sign between the columns of a table, from its first line: spreadsheets differ."""
    named = _SEPARATOR.match(head)
    if named:
        return named[1].decode()
    first = re.sub(rb'"[^"]*"', b"", head.partition(b"\n")[0])
    return max((",", ";", "\t"), key=lambda sign: first.count(sign.encode()))


def csv_records(stream: BinaryIO, delimiter: str = ",") -> Iterator[Record]:
    """The lines of a table by the names in its first line; raises ParseError when it is none."""
    csv.field_size_limit(MAX_LINE)
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        lines = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            header = table_header(lines)
            _check_header(header)
            for cells in lines:
                # Spreadsheets write the empty rows beneath a table, too.
                if any(cell.strip() for cell in cells):
                    yield _row(f"line {lines.line_num}", header, cells)
        except csv.Error as wrong:
            raise ParseError(str(wrong), line=lines.line_num, code="invalid_csv") from None
        except UnicodeDecodeError:
            message = "not UTF-8; save the file as UTF-8"
            raise ParseError(message, line=lines.line_num + 1, code="invalid_encoding") from None


def table_header(lines: Iterator[list[str]]) -> list[str]:
    """The names of the columns; a line before them may say what separates these (`sep=;`)."""
    header = next(lines, None) or []
    is_about_signs = bool(header) and _SIGN.fullmatch(header[0]) and not any(header[1:])
    return (next(lines, None) or []) if is_about_signs else header


def _row(place: str, header: list[str], cells: list[str]) -> Record:
    while len(cells) > len(header) and not cells[-1].strip():
        cells = cells[:-1]
    if len(cells) != len(header):
        counts = f"{len(cells)} cells, but the first line names {len(header)} columns"
        return Record(place, None, counts)
    pairs = [(name, cell) for name, cell in zip(header, cells, strict=True) if name or cell]
    if len({name for name, _ in pairs}) < len(pairs):
        return Record(place, None, "several cells stand in columns without a name")
    return Record(place, dict(pairs))


def _check_header(header: list[str]) -> None:
    if not any(name.strip() for name in header):
        raise ParseError("the first line must name the columns", line=1, code="invalid_csv")
    twice = [name for index, name in enumerate(header) if name and name in header[:index]]
    if twice:
        message = f"two columns are called '{twice[0]}'"
        raise ParseError(message, line=1, code="invalid_csv")


def _parsed(place: str, data: bytes) -> Record:
    try:
        value = parse_json(data)
    except ParseError as wrong:
        return Record(place, None, f"invalid JSON: {wrong}")
    if not isinstance(value, dict):
        return Record(place, None, "must be an object")
    return Record(place, value)
