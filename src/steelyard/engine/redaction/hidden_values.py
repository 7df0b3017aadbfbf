"""What the fields of a record hold that are never written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from steelyard.engine.redaction.own_rules import OwnFields
from steelyard.model.json_value import JsonValue
from steelyard.model.run import Private
from steelyard.settings import MIN_SECRET

_CUT = re.compile(r"\.\.\.")
_MOST_QUOTED = 64


def hidden_values(paths: tuple[str, ...], *values: JsonValue) -> Private:
    """The texts and numbers in redacted fields, each with its path, if long enough to be searched.

    The longest come first: one may stand in another, of which the rest would stay.
    """
    if not paths:
        return ()
    fields = _fields(paths)
    found = {
        text: path
        for value in values
        for path, hidden in _hidden(value, fields, ())
        for text in map(str, _leaves(hidden))
        if len(text) >= MIN_SECRET and text != f"[redacted:{path}]"
    }
    return tuple((found[text], text) for text in sorted(found, key=len, reverse=True))


def cut_values(private: Private, messages: Iterable[str]) -> Private:
    """The beginnings of such values at which a message that quotes them stops."""
    found = {
        value[:end]: path
        for message in messages
        for cut in _CUT.finditer(message)
        for path, value in private
        if value[:MIN_SECRET] in message
        for end in range(MIN_SECRET, min(len(value), _MOST_QUOTED))
        if message.endswith(value[:end], 0, cut.start())
    }
    return tuple((path, value) for value, path in found.items())


@lru_cache
def _fields(paths: tuple[str, ...]) -> OwnFields:
    return OwnFields(paths)


def _hidden(
    value: JsonValue, fields: OwnFields, walked: tuple[str, ...]
) -> Iterator[tuple[str, JsonValue]]:
    """The values of redacted fields, wherever they occur, each with its path."""
    for item in value if isinstance(value, list) else ():
        yield from _hidden(item, fields, walked)
    for name, item in value.items() if isinstance(value, dict) else ():
        path = fields.of((*walked, name))
        if path:
            yield path, item
        else:
            yield from _hidden(item, fields, (*walked, name))


def _leaves(value: JsonValue) -> Iterator[str | float]:
    """The texts and numbers in a value, at any depth."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value
