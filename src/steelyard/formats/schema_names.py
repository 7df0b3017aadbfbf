"""Which names a schema knows at each level of a value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

from steelyard.formats.json_fields import fields, list_field, object_field, object_list
from steelyard.model.json_value import JsonObject, JsonValue, Path

OWN_NAMES: JsonObject = {"unevaluatedProperties": {"deprecated": True}}
"""Marks an object whose kind owns all names in it: any other one is reported, near or not."""
_FREE = {"description", "notes"}


class UnknownName(NamedTuple):
    """A name in a value that the schema does not know there."""

    path: Path
    name: str
    known: frozenset[str]
    is_owned: bool = False
    """Whether the object's kind owns all names in it."""
    owners: tuple[str, ...] = ()
    """The kinds that know the name, where this one does not."""


def resolve(schema: JsonObject, document: JsonObject) -> JsonObject:
    """Follow a local `$ref`; keywords beside it stay."""
    pointer = schema.get("$ref")
    if not isinstance(pointer, str):
        return schema
    target: Any = document
    for part in pointer.removeprefix("#/").split("/") if pointer != "#" else ():
        target = target[part]
    beside = {key: value for key, value in schema.items() if key not in {"$ref", "$defs"}}
    return {**resolve(fields(target), document), **beside}


def unknown_names(
    schema: JsonObject, value: JsonValue, *, only_open: bool = False
) -> Iterator[UnknownName]:
    """Every name in a value that the schema does not know.

    With `only_open`, objects that the schema itself closes are passed over.
    """
    return _walk(schema, schema, value, (), only_open)


def _walk(
    document: JsonObject, schema: JsonObject, value: JsonValue, path: Path, only_open: bool
) -> Iterator[UnknownName]:
    schema = resolve(schema, document)
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                yield from _walk(document, items, item, (*path, index), only_open)
    elif isinstance(value, dict):
        properties = _merged(_properties(document, schema, value))
        others = schema.get("additionalProperties")
        is_closed = others is False
        for name, item in value.items():
            known = properties.get(name)
            if isinstance(known, dict):
                yield from _walk(document, known, item, (*path, name), only_open)
            elif isinstance(others, dict):
                yield from _walk(document, others, item, (*path, name), only_open)
            elif properties and not (only_open and (is_closed or _is_free(name))):
                yield from _unknown(schema, value, path, name, _allowed(properties))


def _merged(properties: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Properties by name; what several branches say of one is joined."""
    joined: dict[str, JsonValue] = {}
    for name, rule in properties:
        before = joined.get(name)
        earlier = before if isinstance(before, dict) else {}
        joined[name] = {**earlier, **rule} if isinstance(rule, dict) else rule
    return joined


def _unknown(
    schema: JsonObject, value: JsonObject, path: Path, name: str, known: frozenset[str]
) -> Iterator[UnknownName]:
    if schema.get("unevaluatedProperties") != OWN_NAMES["unevaluatedProperties"]:
        yield UnknownName(path, name, known)
        return
    branches = [rule for rule in object_list(schema, "allOf") if "if" in rule]
    matching = [rule for rule in branches if _matches(object_field(rule, "if"), value)]
    owners = tuple(_owners(branches, name))
    is_known_kind = bool(matching) or not branches
    is_open = any(
        object_field(rule, "then").get("additionalProperties") is True for rule in matching
    )
    # Which names an unknown kind owns nobody can say: at most, none that a known one has.
    if is_open or is_known_kind or not owners:
        owned = is_known_kind and not is_open
        yield UnknownName(path, name, known, owned, owners if owned else ())


def _allowed(properties: dict[str, JsonValue]) -> frozenset[str]:
    """The allowed names, without those that are known only for their replacement."""
    return frozenset(
        name
        for name, rule in properties.items()
        if not (isinstance(rule, dict) and "x-instead" in rule)
    )


def _is_free(name: str) -> bool:
    """Whether a name may stand everywhere as the author's own."""
    return name in _FREE or name.startswith("x-")


def _owners(branches: list[JsonObject], name: str) -> Iterator[str]:
    """The kinds whose branch knows a name."""
    for branch in branches:
        if name in object_field(object_field(branch, "then"), "properties"):
            for _, options in _demands(object_field(branch, "if")):
                yield from map(str, options)


def _demands(condition: JsonObject) -> Iterator[tuple[str, list[JsonValue]]]:
    """The fields that a condition compares, each with the constants that it may be."""
    for name, demand in object_field(condition, "properties").items():
        rule = fields(demand)
        yield name, list_field(rule, "enum") if "enum" in rule else [rule.get("const")]


def _properties(
    document: JsonObject, schema: JsonObject, value: JsonObject
) -> Iterator[tuple[str, JsonValue]]:
    """The properties that hold for this value: the schema's own and those of matching branches."""
    yield from object_field(schema, "properties").items()
    for branch in object_list(schema, "allOf"):
        branch = resolve(branch, document)  # noqa: PLW2901
        if "if" not in branch:
            yield from _properties(document, branch, value)
        elif _matches(object_field(branch, "if"), value):
            then = resolve(object_field(branch, "then"), document)
            yield from _properties(document, then, value)


def _matches(condition: JsonObject, value: JsonObject) -> bool:
    """Whether a branch's condition holds; conditions only compare fields with constants."""
    return all(value.get(name) in options for name, options in _demands(condition))


def closed(schema: JsonObject) -> JsonObject:
    """The same schema with every object of named properties closed against other names."""
    return cast(JsonObject, _closed(schema, schema, is_branch=False))


def _closed(node: Any, document: JsonObject, *, is_branch: bool) -> Any:
    if isinstance(node, list):
        items = cast(list[Any], node)
        return [_closed(item, document, is_branch=is_branch) for item in items]
    if not isinstance(node, dict):
        return node
    members = _inlined(cast(dict[str, Any], node), document)
    # A branch that takes any name would hide the misspelt ones.
    twin = {
        key: _closed_member(key, item, document)
        for key, item in members.items()
        if not (key == "additionalProperties" and item is True)
    }
    is_object = "properties" in members and "object" in members.get("type", ())
    if is_object and not is_branch and "additionalProperties" not in members:
        # `additionalProperties` is faster, but does not see the names that branches bring.
        brings = _brings_names(members)
        twin["unevaluatedProperties" if brings else "additionalProperties"] = False
    return twin


def _brings_names(members: dict[str, Any]) -> bool:
    """Whether a branch knows names that the schema itself does not."""
    own = members["properties"].keys()
    branches = [branch["then"] for branch in members.get("allOf", ()) if "if" in branch]
    # What a branch refers to is not looked into: it may bring anything.
    return any(
        {"allOf", "$ref"} & then.keys() or then.get("properties", {}).keys() - own
        for then in branches
    )


def _closed_member(key: str, item: Any, document: JsonObject) -> Any:
    if key in {"if", "anyOf", "not", "enum", "const", "default", "examples", "required"}:
        return item
    if key in {"properties", "$defs"}:
        return {name: _closed(rule, document, is_branch=False) for name, rule in item.items()}
    return _closed(item, document, is_branch=key in {"allOf", "then"})


def _inlined(members: dict[str, Any], document: JsonObject) -> dict[str, Any]:
    """An object schema with the schemas that it only refers to under `allOf` written out."""
    referred = [rule for rule in members.get("allOf", ()) if "$ref" in rule]
    for rule in referred:
        part: dict[str, Any] = resolve(rule, document)
        others = [other for other in members["allOf"] if other is not rule]
        members = {
            **members,
            "properties": {**part["properties"], **members.get("properties", {})},
            "required": [*part.get("required", ()), *members.get("required", ())],
            "allOf": [*part.get("allOf", ()), *others],
        }
    # An empty list of rules is no valid schema.
    return {key: item for key, item in members.items() if key != "allOf" or item}
