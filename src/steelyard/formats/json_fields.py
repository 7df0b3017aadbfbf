"""Members of JSON objects whose shape a schema has checked, with their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from steelyard.model.json_value import JsonObject


def text_field(row: Mapping[str, Any], name: str) -> str:
    """A text that must be there."""
    return cast(str, row[name])


def object_field(row: Mapping[str, Any], name: str) -> JsonObject:
    """An object that must be there."""
    return cast(JsonObject, row[name])


def object_list(row: Mapping[str, Any], name: str) -> list[JsonObject]:
    """A list of objects that must be there."""
    return cast(list[JsonObject], row[name])


def text_list(row: Mapping[str, Any], name: str) -> list[str]:
    """A list of texts that must be there."""
    return cast(list[str], row[name])


def number_field(row: Mapping[str, Any], name: str) -> float:
    """A number that must be there."""
    return cast(float, row[name])


def optional_text(row: Mapping[str, Any], name: str) -> str | None:
    """A text, where there is one."""
    return cast("str | None", row.get(name))


def optional_object(row: Mapping[str, Any], name: str) -> JsonObject | None:
    """An object, where there is one."""
    return cast("JsonObject | None", row.get(name))


def optional_number(row: Mapping[str, Any], name: str) -> float | None:
    """A number, where there is one."""
    return cast("float | None", row.get(name))


def optional_objects(row: Mapping[str, Any], name: str) -> list[JsonObject] | None:
    """A list of objects, where there is one."""
    return cast("list[JsonObject] | None", row.get(name))
