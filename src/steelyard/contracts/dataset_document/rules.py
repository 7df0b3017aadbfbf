"""The rules of contract 2 that a JSON Schema cannot state: sizes, depths, text, the calendar."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from steelyard.formats.encoding import Flaw, flaws
from steelyard.formats.json_text import compact, depth
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue

KB = 1024
MAX_PAYLOAD = 100 * KB * KB
MAX_RECORD = 256 * KB
MAX_RECORD_METADATA = 8 * KB
MAX_METADATA = 16 * KB
MAX_METADATA_DEPTH = 5
# A number such as 1e15 is 4 bytes as written and 18 serialized; nothing grows more than that.
_GROWTH = 5

_FLAWS: dict[Flaw, str] = {
    "control": "{} has a forbidden control character",
    "surrogate": "{} has an unpaired surrogate code point",
    "not_nfc": "{} is not in Unicode NFC",
}


def text_problems(value: JsonValue, *, allow_not_nfc: bool) -> Iterator[Problem]:
    """Strings with control characters, lone surrogates or (over HTTP) not in NFC."""
    for path, flaw in flaws(value):
        if flaw != "not_nfc" or not allow_not_nfc:
            yield Problem(code="invalid_encoding", message=_FLAWS[flaw], path=path)


def record_size_problems(record: JsonObject, written: int) -> Iterator[Problem]:
    """A record or its metadata over the size; `written` is the record's length in the file."""
    if _exceeds(record, MAX_RECORD, written):
        yield _too_large("{} is larger than 256 KB serialized", ())
    metadata = record.get("metadata")
    if not isinstance(metadata, dict):
        return
    if _exceeds(metadata, MAX_RECORD_METADATA, written):
        yield _too_large("{} is larger than 8 KB serialized", ("metadata",))
    yield from _depth_problems(metadata)


def header_problems(header: JsonObject) -> Iterator[Problem]:
    """What is wrong with the dataset's own fields beyond their shape."""
    created_at = header.get("created_at")
    if isinstance(created_at, str) and not _is_real_time(created_at):
        message = "{} must be an ISO 8601 timestamp in UTC, such as 2026-01-15T10:05:12Z"
        yield Problem(code="value_out_of_range", message=message, path=("created_at",))
    metadata = header.get("metadata")
    if isinstance(metadata, dict):
        if _exceeds(metadata, MAX_METADATA, MAX_PAYLOAD):
            message = "{} is larger than 16 KB serialized"
            yield Problem(code="value_out_of_range", message=message, path=("metadata",))
        yield from _depth_problems(metadata)


def _depth_problems(metadata: JsonObject) -> Iterator[Problem]:
    if depth(metadata) > MAX_METADATA_DEPTH:
        message = f"{{}} is nested deeper than {MAX_METADATA_DEPTH} levels"
        yield Problem(code="value_out_of_range", message=message, path=("metadata",))


def _exceeds(value: JsonValue, limit: int, written: int) -> bool:
    """Whether a value is over its size; the exact form is made only when it may be near."""
    if written * _GROWTH <= limit or len(msgspec.json.encode(value)) * _GROWTH <= limit:
        return False
    return len(compact(value)) > limit


def _too_large(message: str, path: tuple[str, ...]) -> Problem:
    return Problem(code="record_too_large", message=message, path=path)


def _is_real_time(text: str) -> bool:
    """Whether the calendar knows this time; its form is the schema's business."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
