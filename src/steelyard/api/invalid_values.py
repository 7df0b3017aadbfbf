"""Values of a query or a body that do not fit their type: where, what, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from steelyard.errors import argument

_PLACE = re.compile(r"(.*) - at `\$\.?(.+)`", re.DOTALL)
_STEP = re.compile(r"([^.\[\]]+)|\[[^\]]*\]")
_CHOICE = re.compile("Invalid enum value (.*)", re.DOTALL)


def explained(wrong: msgspec.ValidationError, kind: Any) -> str:
    """The message, with the place in the words of the API and the choices of a value."""
    placed = _PLACE.fullmatch(str(wrong))
    text, place = placed.groups() if placed else (str(wrong), "")
    name = argument(place) if place.replace("_", "").isalpha() else f"`{place}`"
    if chosen := _CHOICE.fullmatch(text):
        known = ", ".join(str(one) for one in sorted(_choices(inspect.type_info(kind), place)))
        return f"invalid value {chosen[1]}{f' for {name}' if place else ''}; one of: {known}"
    text = text.replace("Object contains", "it contains").replace("Object missing", "missing")
    return f"{name}: {text[0].lower()}{text[1:]}" if place else text


def _choices(kind: inspect.Type, place: str) -> set[Any]:
    """The values that a place of a type may have, where they are listed."""
    kinds = [kind]
    for step in _STEP.finditer(place):
        kinds = [inner for one in kinds for inner in _inside(one, step[1])]
    return {
        value
        for one in kinds
        for choice in _alternatives(one)
        if isinstance(choice, inspect.LiteralType)
        for value in choice.values
    }


def _inside(kind: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    """The type of a member, or without a name of any entry."""
    for one in _alternatives(kind):
        if isinstance(one, inspect.StructType) and name:
            yield from (field.type for field in one.fields if field.encode_name == name)
        elif isinstance(one, inspect.ListType) and name is None:
            yield one.item_type


def _alternatives(kind: inspect.Type) -> Iterator[inspect.Type]:
    if isinstance(kind, inspect.Metadata):
        yield from _alternatives(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _alternatives(one)
    else:
        yield kind
