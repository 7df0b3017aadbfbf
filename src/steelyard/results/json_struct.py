"""Values that are kept as JSON beside texts of any kind, such as paths of odd bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from steelyard.model.json_value import JsonObject, JsonValue

Read = TypeVar("Read")


class JsonStruct(msgspec.Struct, frozen=True, kw_only=True):
    """A value that may hold paths, and texts that are not valid Unicode."""

    def json(self) -> JsonObject:
        """As JSON, in the order of the fields."""
        return json.loads(json.dumps(msgspec.to_builtins(self, enc_hook=_plain)))


def from_json(value: JsonValue | JsonObject, kind: type[Read]) -> Read:
    """The value that some JSON stands for; fields that it does not know are ignored."""
    return msgspec.convert(value, kind, dec_hook=_path)


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError(f"{value!r} is no JSON")


def _path(kind: type, value: str) -> Path:
    if kind is not Path or not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected a path, not {value!r}")
    return Path(value)
