"""Suites and targets that are sent back in the form in which they were shown."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import InvalidError
from steelyard.model.json_value import JsonObject, JsonValue

_DESCRIBING = ("origin", "findings", "request_id")
"""What is shown beside the settings of an entry."""
HIDDEN = "hidden"
HEADERS = "headers"


def sent_settings(row: JsonObject, saved: JsonObject | None) -> JsonObject:
    """The settings of an entry; null counts as absent, and what was not shown stays as saved.

    A target is shown with the names of its headers and of its hidden settings, without values.
    """
    found: JsonObject = {
        name: value
        for name, value in row.items()
        if value is not None and name not in (*_DESCRIBING, HIDDEN)
    }
    before = saved or {}
    if (hidden := _names(row, HIDDEN)) is not None:
        found |= {name: _kept(before, name, HIDDEN) for name in hidden}
    if (headers := _names(row, HEADERS)) is not None:
        held = before.get(HEADERS)
        values = held if isinstance(held, dict) else {}
        found[HEADERS] = {name: _kept(values, name, HEADERS) for name in headers}
    if not found.get(HEADERS, True):
        del found[HEADERS]
    return found


def _names(row: JsonObject, key: str) -> Sequence[str] | None:
    """The names that are listed under a key; None where there is no list."""
    value = row.get(key)
    if not isinstance(value, list):
        if key == HIDDEN and value is not None:
            raise InvalidError(f"'{key}' lists names of settings whose saved values stay")
        return None
    return [str(name) for name in value]


def _kept(saved: JsonObject, name: str, key: str) -> JsonValue:
    if name not in saved:
        raise InvalidError(
            f"'{key}' lists '{name[:100]}', of which no value is saved under this name; give one"
        )
    return saved[name]
