"""The rules of contract 2 that a JSON Schema cannot state: sizes, depths, text, the calendar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import msgspec

from steelyard.formats.encoding import Flaw, flaws
from steelyard.formats.json_outline import most_values
from steelyard.formats.json_text import compact, depth
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path

KB = 1024
RUN = "run"
"""The member with the settings of its run, which only a posted document can have."""
MAX_PAYLOAD = 100 * KB * KB
MAX_RECORD = 256 * KB
MAX_RECORD_METADATA = 8 * KB
MAX_METADATA = 16 * KB
MAX_METADATA_DEPTH = 5
# A raw control character is 1 byte as written and 6 serialized; nothing grows more than that.
_GROWTH = 6

_FLAWS: dict[Flaw, str] = {
    "control": "{} has a forbidden control character",
    "surrogate": "{} has an unpaired surrogate code point",
    "not_nfc": "{} is not in Unicode NFC",
}
_TIME = "{} must be an ISO 8601 timestamp in UTC, such as 2026-01-15T10:05:12Z"
_ID = "{} may only have the letters A-Z and a-z, digits, '_', '-' and '.'"
_PATTERNS: dict[Path, str] = {("created_at",): _TIME, ("dataset_id",): _ID}


def text_problems(value: JsonValue, *, allow_not_nfc: bool) -> Iterator[Problem]:
    """Strings with control characters, lone surrogates or (over HTTP) not in NFC."""
    for path, flaw in flaws(value):
        if flaw != "not_nfc" or not allow_not_nfc:
            yield Problem(code="invalid_encoding", message=_FLAWS[flaw], path=path)


def record_size_problems(record: JsonObject, written: int) -> Iterator[Problem]:
    """A record or its metadata over a limit; `written` is the record's length in the file."""
    yield from _size_problems(record, (), MAX_RECORD, written)
    metadata = record.get("metadata")
    if isinstance(metadata, dict):
        yield from _size_problems(metadata, ("metadata",), MAX_RECORD_METADATA, written)
        yield from _depth_problems(metadata)


def is_bomb(raw: bytes) -> bool:
    """Whether a record has so many values that their commas and brackets alone are too large."""
    return len(raw) > MAX_RECORD and most_values(raw) > MAX_RECORD


def too_many_values() -> Problem:
    """The problem of such a record, of which nothing else is looked at."""
    message = f"{{}} has more than {MAX_RECORD:,} bytes serialized"
    return Problem(code="record_too_large", message=message)


def header_problems(header: JsonObject) -> Iterator[Problem]:
    """What is wrong with the dataset's own fields beyond their shape."""
    created_at = header.get("created_at")
    if isinstance(created_at, str) and not _is_real_time(created_at):
        yield Problem(code="value_out_of_range", message=_TIME, path=("created_at",))
    metadata = header.get("metadata")
    if isinstance(metadata, dict):
        for problem in _size_problems(metadata, ("metadata",), MAX_METADATA, MAX_PAYLOAD):
            yield replace(problem, code="value_out_of_range")
        yield from _depth_problems(metadata)
    if RUN in header:
        yield Problem(
            code="unknown_field",
            message="{} holds settings of a run, which have no effect in a file",
            path=(RUN,),
            hint="name them as options of the run, or post the document to /v1/runs",
            severity="warning",
        )


def in_words(problem: Problem) -> Problem:
    """The same problem; where a pattern speaks of the dataset, with words in its place."""
    message = _PATTERNS.get(problem.path)
    is_pattern = "must match" in problem.message or "must not be blank" in problem.message
    return replace(problem, message=message) if message and is_pattern else problem


def _depth_problems(metadata: JsonObject) -> Iterator[Problem]:
    if depth(metadata) > MAX_METADATA_DEPTH:
        message = f"{{}} is nested deeper than {MAX_METADATA_DEPTH} levels"
        yield Problem(code="value_out_of_range", message=message, path=("metadata",))


def _size_problems(value: JsonValue, path: Path, limit: int, written: int) -> Iterator[Problem]:
    """The exact form is made only of a value that may be near its limit."""
    if written * _GROWTH <= limit or len(msgspec.json.encode(value)) * _GROWTH <= limit:
        return
    size = len(compact(value))
    if size > limit:
        message = f"{{}} has {size:,} bytes serialized; at most {limit:,} are allowed"
        yield Problem(code="record_too_large", message=message, path=path)


def _is_real_time(text: str) -> bool:
    """Whether the calendar knows this time; its form is the schema's business."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True
