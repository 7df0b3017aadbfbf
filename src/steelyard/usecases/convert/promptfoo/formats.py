"""The formats that a JSON Schema asks for: promptfoo checks them, and nothing here does."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.model.json_value import JsonValue

_NAMED = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
"""Keywords whose members are schemas by names of the user's own."""
_VALUES = {"const", "enum", "default", "examples"}


def formats_in(schema: JsonValue) -> Iterator[str]:
    """The formats of a schema and of all schemas within it."""
    if isinstance(schema, list):
        for one in schema:
            yield from formats_in(one)
    elif isinstance(schema, dict):
        for name, value in schema.items():
            if name == "format" and isinstance(value, str):
                yield value
            elif name in _NAMED and isinstance(value, dict):
                yield from formats_in([*value.values()])
            elif name not in _VALUES:
                yield from formats_in(value)
