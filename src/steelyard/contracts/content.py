"""What a record says, its ids left out, in the one form in which records are compared."""

from __future__ import annotations

import msgspec

from steelyard.formats.json_keys import keys_given_again, may_repeat_keys, repeated_keys
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue

IDS = ("id", "record_id", "conversation_id")
"""Fields that identify records and have no content."""
_encode = msgspec.json.Encoder(order="sorted").encode


def content_of(value: JsonObject) -> bytes:
    """What a record says."""
    rest = value.copy()
    for name in IDS:
        rest.pop(name, None)
    return _written(rest)


def content_and_repeats(text: bytes, value: JsonValue, colons: int) -> tuple[bytes, list[Problem]]:
    """What a record says, and a warning for each key that its text, of so many colons, repeats.

    The record is written once for both: this is done with every row of every file.
    """
    if not isinstance(value, dict):
        return b"", repeated_keys(text, value)
    rest, written = value.copy(), 0
    for name in IDS:
        if name in rest:
            item = rest.pop(name)
            written += 1 + (item.count(":") if isinstance(item, str) else _colons(item))
    try:
        content = _encode(rest)
    except UnicodeEncodeError:
        return _written(rest), keys_given_again(text)
    written += content.count(b":")
    return content, keys_given_again(text) if may_repeat_keys(text, colons, written) else []


def _colons(item: JsonValue) -> int:
    return _written(item).count(b":")


def _written(value: JsonValue) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        # Half a surrogate pair, which no encoder writes: the representation tells as much.
        return repr(value).encode("utf-8", "backslashreplace")
