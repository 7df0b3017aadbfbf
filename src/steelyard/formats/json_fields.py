"""JSON values and members of objects whose shape a schema has checked, with their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from steelyard.model.json_value import JsonObject, JsonValue

_SHAPE = "not the JSON value that belongs here"


def fields(value: JsonValue) -> JsonObject:
    """An object."""
    if not isinstance(value, dict):
        raise TypeError(_SHAPE)
    return value


def items(value: JsonValue) -> list[JsonValue]:
    """A list."""
    if not isinstance(value, list):
        raise TypeError(_SHAPE)
    return value


def text_field(row: Mapping[str, JsonValue], name: str, default: str | None = None) -> str:
    """A text; without a default it must be there."""
    value = row.get(name, default)
    if not isinstance(value, str):
        raise TypeError(_SHAPE)
    return value


def number_field(row: Mapping[str, JsonValue], name: str, default: float | None = None) -> float:
    """A number; without a default it must be there."""
    value = row.get(name, default)
    if not isinstance(value, (int, float)):
        raise TypeError(_SHAPE)
    return value


def flag_field(row: Mapping[str, JsonValue], name: str, *, default: bool = False) -> bool:
    """Whether something is said to be so."""
    value = row.get(name, default)
    if not isinstance(value, bool):
        raise TypeError(_SHAPE)
    return value


def object_field(row: Mapping[str, JsonValue], name: str) -> JsonObject:
    """An object; an empty one where there is none."""
    value = row.get(name)
    return {} if value is None else fields(value)


def list_field(row: Mapping[str, JsonValue], name: str) -> list[JsonValue]:
    """A list; an empty one where there is none."""
    value = row.get(name)
    return [] if value is None else items(value)


def object_list(row: Mapping[str, JsonValue], name: str) -> list[JsonObject]:
    """A list of objects; an empty one where there is none. Only the list itself is looked at."""
    return cast(list[JsonObject], list_field(row, name))


def text_list(row: Mapping[str, JsonValue], name: str) -> list[str]:
    """A list of texts; an empty one where there is none."""
    value = row.get(name)
    return [] if value is None else texts(value)


def texts(value: JsonValue) -> list[str]:
    """A list of texts; only the list itself is looked at."""
    return cast(list[str], items(value))


def optional_text(row: Mapping[str, JsonValue], name: str) -> str | None:
    """A text, where there is one."""
    return None if row.get(name) is None else text_field(row, name)


def optional_object(row: Mapping[str, JsonValue], name: str) -> JsonObject | None:
    """An object, where there is one."""
    return None if row.get(name) is None else object_field(row, name)


def optional_number(row: Mapping[str, JsonValue], name: str) -> float | None:
    """A number, where there is one."""
    return None if row.get(name) is None else number_field(row, name)


def optional_objects(row: Mapping[str, JsonValue], name: str) -> list[JsonObject] | None:
    """A list of objects, where there is one."""
    return object_list(row, name) if row.get(name) is not None else None
