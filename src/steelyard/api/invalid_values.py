"""Values of a query or a body that do not fit their type: where, what, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect

from steelyard.errors import argument
from steelyard.formats.names import did_you_mean

_PLACE = re.compile(r"(.*) - at `\$\.?(.+)`", re.DOTALL)
_STEP = re.compile(r"([^.\[\]]+)|\[[^\]]*\]")
_UNKNOWN = re.compile("Object contains unknown field `(.*)`", re.DOTALL)
_CHOICE = re.compile("Invalid enum value (.*)", re.DOTALL)


def explained(wrong: msgspec.ValidationError, kind: Any) -> str:
    """The message, with the place in the words of the API and the choices of a value."""
    placed = _PLACE.fullmatch(str(wrong))
    text, place = placed.groups() if placed else (str(wrong), "")
    name = _marked(place)
    if chosen := _CHOICE.fullmatch(text):
        known = ", ".join(str(one) for one in sorted(_choices(inspect.type_info(kind), place)))
        return f"invalid value {chosen[1]}{f' for {name}' if place else ''}; one of: {known}"
    if unknown := _UNKNOWN.fullmatch(text):
        known = sorted(_fields(inspect.type_info(kind), place))
        field = _marked(unknown[1])
        meant = did_you_mean(unknown[1], known) or f"one of: {', '.join(known) or 'none'}"
        return f"{f'{name}: ' if place else ''}{field} is not a known field; {meant}"
    text = text.replace("Object missing", "missing")
    return f"{name}: {text[0].lower()}{text[1:]}" if place else text


def _choices(kind: inspect.Type, place: str) -> set[Any]:
    """The values that a place of a type may have, where they are listed."""
    return {
        value
        for one in _at(kind, place)
        for choice in _alternatives(one)
        if isinstance(choice, inspect.LiteralType)
        for value in choice.values
    }


def _fields(kind: inspect.Type, place: str) -> set[str]:
    """The names of the fields that an object at a place may have."""
    return {
        field.encode_name
        for one in _at(kind, place)
        for found in _alternatives(one)
        if isinstance(found, inspect.StructType)
        for field in found.fields
    }


def _at(kind: inspect.Type, place: str) -> list[inspect.Type]:
    """The types of a place within a type."""
    kinds = [kind]
    for step in _STEP.finditer(place):
        kinds = [inner for one in kinds for inner in _inside(one, step[1])]
    return kinds


def _marked(name: str) -> str:
    """A name, as an argument where it can be one."""
    return argument(name) if name.replace("_", "").isalpha() else f"`{name}`"


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
