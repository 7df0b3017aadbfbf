"""Keys that are given twice in one JSON object, of which a parser keeps the last alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonValue, Path

_encode = msgspec.json.Encoder().encode


def repeated_keys(data: bytes, value: JsonValue) -> list[Problem]:
    """A warning for each key that a JSON text gives again in the same object.

    `value` is what the text was parsed to. A repeated key takes its colon with it when it is
    dropped, so that counting colons tells the texts that must be parsed again.
    """
    try:
        written = _encode(value)
    except UnicodeEncodeError:  # half a surrogate pair, which no encoder writes
        return list(_looked_up(data))
    is_clean = data.count(b":") == written.count(b":") and not _hides_colons(data, written)
    return [] if is_clean else list(_looked_up(data))


def _hides_colons(data: bytes, written: bytes) -> bool:
    """Whether a colon may be written as an escape, which an encoder does not do."""
    return data.count(b"\\") != written.count(b"\\") and b"\\u003" in data


def _looked_up(data: bytes) -> Iterator[Problem]:
    try:
        return _repeated(json.loads(data, object_pairs_hook=_Members, parse_int=str), ())
    except (ValueError, RecursionError):  # no JSON: said elsewhere
        return iter(())


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
