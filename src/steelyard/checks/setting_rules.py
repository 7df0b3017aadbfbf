"""The settings of a kind by their types: the schema that states them, and the values they take."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, cast

from steelyard.errors import InvalidError
from steelyard.formats.json_fields import text_field
from steelyard.formats.schema_names import OWN_NAMES
from steelyard.model.json_value import Extra, JsonObject, JsonValue

PORT: Extra = {"port": True}
"""The metadata of a field that is no setting: what the check needs of the world around it."""
RULES = "rules"
"""The class variable with what the schema says of several settings at once, such as `allOf`."""
_ORDER = ("string", "integer", "number", "boolean", "array", "object")
_SIMPLE: dict[object, JsonObject] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
}
_UNIONS = (types.UnionType, typing.Union)


class Rule(NamedTuple):
    """What the schema says of a setting beside its type, as in `Annotated[int, Rule(…)]`."""

    description: str
    keywords: Extra = types.MappingProxyType({})
    """Further keywords of the schema, such as `minimum`."""


def without_effect(name: str, setting: str, *values: str) -> JsonObject:
    """The rule that a setting counts for nothing beside some values of another one."""
    return {
        "x-either": [f"this '{setting}'", name],
        "x-severity": "warning",
        "not": {
            "type": "object",
            "required": [name, setting],
            "properties": {setting: {"enum": [*values]}},
        },
    }


class _Anything(NamedTuple):
    """A class only to read from it how the type checker's JSON object looks at run time."""

    value: Extra


def _hints(made: type) -> dict[str, Any]:
    """The types of a class; its module need not know the alias that JSON's own refers to."""
    return typing.get_type_hints(made, localns={"JsonValue": JsonValue}, include_extras=True)


_JSON_OBJECT = _hints(_Anything)["value"]


@cache
def settings_of(made: type) -> tuple[tuple[Field[Any], Any], ...]:
    """The settings of a dataclass, each with its type."""
    hints = _hints(made)
    found = fields(cast(Any, made))
    return tuple(
        (one, hints[one.name]) for one in found if one.init and "port" not in one.metadata
    )


@cache
def names_of(made: type) -> frozenset[str]:
    """The names of the settings of a dataclass."""
    return frozenset(_shapes(made))


def schema_of(made: type) -> JsonObject:
    """The schema of a dataclass's settings."""
    properties: JsonObject = {}
    required: list[JsonValue] = []
    for setting, hint in settings_of(made):
        properties[setting.name] = _rule(hint)
        if setting.default is MISSING and setting.default_factory is MISSING:
            required.append(setting.name)
    rules = cast(Extra, getattr(made, RULES, {}))
    return {"required": required, **rules, "properties": properties}


def arguments_of(made: type, settings: Mapping[str, JsonValue]) -> dict[str, object]:
    """Settings, whose shape has been checked, as the arguments of a dataclass."""
    shapes = _shapes(made)
    return {name: _value(shapes.get(name, _AS_IT_IS), item) for name, item in settings.items()}


class _Shape(NamedTuple):
    """What becomes of a JSON value as the value of a setting."""

    item: _Shape | None = None
    """What becomes of the items of a list; without it, a list stays one."""
    nested: type | None = None
    """The dataclass that an object becomes."""


_AS_IT_IS = _Shape()


@cache
def _shapes(made: type) -> dict[str, _Shape]:
    """What becomes of each setting of a dataclass: looked up once, for checks made by the row."""
    return {setting.name: _shape_of(hint) for setting, hint in settings_of(made)}


def _shape_of(hint: Any) -> _Shape:
    hint, _ = _plain(hint)
    parts = typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else (hint,)
    lists = [part for part in parts if typing.get_origin(part) is tuple]
    nested = [cast(type, part) for part in parts if is_dataclass(part)]
    item = _shape_of(typing.get_args(lists[0])[0]) if lists else None
    return _Shape(item, nested[0] if nested else None)


def _value(shape: _Shape, value: JsonValue) -> object:
    """A JSON value as the value of a setting of this shape."""
    if isinstance(value, list) and shape.item:
        item = shape.item
        return tuple(value if item == _AS_IT_IS else [_value(item, one) for one in value])
    if isinstance(value, dict) and shape.nested:
        known = _shapes(shape.nested)
        given = {name: _value(known[name], value[name]) for name in known if name in value}
        return shape.nested(**given)
    return value


def _rule(hint: Any) -> JsonObject:
    """The schema of one setting by its type."""
    hint, rule = _plain(hint)
    return {**_by_type(hint), **rule}


def _plain(hint: Any) -> tuple[Any, JsonObject]:
    """The type without its annotation and without None, and what the annotation says."""
    keywords: JsonObject = {}
    if typing.get_origin(hint) is Annotated:
        hint, *notes = typing.get_args(hint)
        for note in notes:
            if isinstance(note, Rule):
                keywords = {"description": note.description, **note.keywords}
    if typing.get_origin(hint) in _UNIONS:
        given = [part for part in typing.get_args(hint) if part is not type(None)]
        hint = given[0] if len(given) == 1 else hint
    return hint, keywords


def _by_type(hint: Any) -> JsonObject:
    if isinstance(hint, type) and hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if hint == _JSON_OBJECT:
        return {"type": "object"}
    if is_dataclass(hint):
        return _object(cast(type, hint))
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "minItems": 1, "items": _rule(arguments[0])}
    if origin is Mapping and arguments[0] is str:
        return {"type": "object", "additionalProperties": _rule(arguments[1])}
    if origin in _UNIONS:
        return _either(hint, [_by_type(part) for part in arguments if part is not type(None)])
    raise InvalidError(f"a check's setting cannot be of type {hint}")


def _either(hint: Any, rules: list[JsonObject]) -> JsonObject:
    """The schema of a setting that may be of several JSON types, each of them once."""
    types_ = [text_field(rule, "type", "string") for rule in rules]
    if len(set(types_)) < len(rules) or {"integer", "number"} <= set(types_):
        raise InvalidError(f"a check's setting cannot be of type {hint}")
    joined: JsonObject = {}
    for rule in rules:
        if "enum" in rule:
            # An enum would hold for the other types as well.
            joined.update({"if": {"type": "string"}, "then": {"enum": rule["enum"]}})
        else:
            joined.update(rule)
    return {**joined, "type": sorted(types_, key=_ORDER.index)}


def _object(made: type) -> JsonObject:
    """A setting with parts of its own, each of which a schema must explain."""
    stated = schema_of(made)
    properties = cast(dict[str, JsonObject], stated["properties"])
    titled: JsonObject = {name: {"title": name, **rule} for name, rule in properties.items()}
    return {
        "type": "object",
        "required": stated["required"],
        "properties": titled,
        **cast(JsonObject, getattr(made, RULES, {})),
        **OWN_NAMES,
    }
