"""The values that JSON can hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ForwardRef, TypeAlias

if TYPE_CHECKING:
    JsonValue: TypeAlias = (
        "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
    )
else:
    # Known by its module, so that signatures can be read wherever the name is used.
    JsonValue = ForwardRef("_AnyJson", module=__name__)
    _AnyJson = bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None
JsonObject: TypeAlias = dict[str, JsonValue]
Extra: TypeAlias = Mapping[str, JsonValue]
PathPart: TypeAlias = str | int
Path: TypeAlias = tuple[PathPart, ...]


no_extra: Callable[[], Extra] = dict
"""Makes the value of `extra` where a contract brought nothing beyond the common part."""


def path_text(path: Path) -> str:
    """Write a path the way people read it: `records[1].input.prompt`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part or "''")
    return text
