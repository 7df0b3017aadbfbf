"""Keys that are given twice in one JSON object, of which a parser keeps the last alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonValue, Path

_encode = msgspec.json.Encoder().encode
# A number: looking for one byte as bytes takes four times as long.
_BACKSLASH = 0x5C


def repeated_keys(data: bytes, value: JsonValue) -> list[Problem]:
    """A warning for each key that a JSON text gives again in the same object.

    `value` is what the text was parsed to.
    """
    try:
        written = _encode(value).count(b":")
    except UnicodeEncodeError:  # half a surrogate pair, which no encoder writes
        return keys_given_again(data)
    return keys_given_again(data) if may_repeat_keys(data, data.count(b":"), written) else []


def may_repeat_keys(data: bytes, colons: int, written: int) -> bool:
    """Whether a JSON text must be parsed again to know of repeated keys.

    `colons` are those of the text, `written` those of its value as an encoder writes it. A
    repeated key takes its colon with it when it is dropped, and no encoder escapes a colon.
    """
    return colons != written or (_BACKSLASH in data and _hides_colons(data))


def _hides_colons(data: bytes) -> bool:
    """Whether a colon may be written as an escape; one search is enough for most texts."""
    place = data.find(b"\\u003")
    if place < 0:
        return False
    return data.find(b"\\u003a", place) >= 0 or data.find(b"\\u003A", place) >= 0


def keys_given_again(data: bytes) -> list[Problem]:
    """The same warnings, looked for key by key."""
    try:
        members = json.loads(data, object_pairs_hook=_Members, parse_int=str)
        return list(_repeated(members, ()))
    except (ValueError, RecursionError):  # no JSON: said elsewhere
        return []


class _Members(list[Any]):
    """The members of an object as they are written."""


def _repeated(value: Any, path: Path) -> Iterator[Problem]:
    if isinstance(value, _Members):
        seen: set[str] = set()
        for name, item in value:
            if name in seen:
                message = "{} is given twice; only the last value counts"
                place = (*path, cast(str, name))
                yield Problem(
                    code="duplicate_key", message=message, path=place, severity="warning"
                )
            seen.add(name)
            yield from _repeated(item, (*path, cast(str, name)))
    elif isinstance(value, list):
        for index, item in enumerate(cast(list[Any], value)):
            yield from _repeated(item, (*path, index))
