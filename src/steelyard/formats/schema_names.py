"""Which names a schema knows at each level of a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from steelyard.model.json_value import JsonObject, JsonValue, Path


def resolve(schema: JsonObject, document: JsonObject) -> JsonObject:
    """Follow a local `$ref`; keywords beside it stay."""
    pointer = schema.get("$ref")
    if not isinstance(pointer, str):
        return schema
    target: Any = document
    for part in pointer.removeprefix("#/").split("/") if pointer != "#" else ():
        target = target[part]
    beside = {key: value for key, value in schema.items() if key not in {"$ref", "$defs"}}
    return {**resolve(cast(JsonObject, target), document), **beside}


class Unknown(NamedTuple):
    """A name that the schema does not know where it stands."""

    path: Path
    """Of the object that has it."""
    name: str
    known: frozenset[str]
    owned: JsonObject | None = None
    """The schema of the object, where every name in it must be one that its kind owns."""

    @property
    def owner(self) -> str | None:
        """The kind that owns the name, where another one does."""
        branches = cast(list[JsonObject], (self.owned or {}).get("allOf", []))
        for branch in branches:
            if "if" in branch and self.name in cast(Any, branch["then"]).get("properties", {}):
                (demand,) = cast(Any, branch["if"])["properties"].values()
                return cast(str, demand["enum"][0])
        return None


def unknown_names(
    schema: JsonObject, value: JsonValue, *, only_open: bool = False
) -> Iterator[Unknown]:
    """Every name that the schema does not know.

    With `only_open`, objects that the schema itself closes are passed over.
    """
    return _walk(schema, schema, value, (), only_open)


def _walk(
    document: JsonObject, schema: JsonObject, value: JsonValue, path: Path, only_open: bool
) -> Iterator[Unknown]:
    schema = resolve(schema, document)
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, item in enumerate(value):
                yield from _walk(document, items, item, (*path, index), only_open)
    elif isinstance(value, dict):
        properties = dict(_properties(document, schema, value))
        others = schema.get("additionalProperties")
        is_closed = others is False
        names = frozenset(name for name, rule in properties.items() if not _is_refused(rule))
        owned = schema if "x-owned" in schema and _owns(schema, value) else None
        for name, item in value.items():
            known = properties.get(name)
            if isinstance(known, dict):
                yield from _walk(document, known, item, (*path, name), only_open)
            elif isinstance(others, dict):
                yield from _walk(document, others, item, (*path, name), only_open)
            elif properties and not (only_open and is_closed):
                yield Unknown(path, name, names, owned)


def _properties(
    document: JsonObject, schema: JsonObject, value: JsonObject
) -> Iterator[tuple[str, JsonValue]]:
    """The properties that hold for this value: the schema's own and those of matching branches."""
    yield from cast(JsonObject, schema.get("properties", {})).items()
    for branch in cast(list[JsonObject], schema.get("allOf", [])):
        branch = resolve(branch, document)  # noqa: PLW2901
        if "if" not in branch:
            yield from _properties(document, branch, value)
        elif _matches(cast(JsonObject, branch["if"]), value):
            then = resolve(cast(JsonObject, branch["then"]), document)
            yield from _properties(document, then, value)


def _owns(schema: JsonObject, value: JsonObject) -> bool:
    """Whether the kind of this value is known, and does not take whatever stands in it."""
    branches = [one for one in cast(list[JsonObject], schema.get("allOf", [])) if "if" in one]
    matching = [one for one in branches if _matches(cast(JsonObject, one["if"]), value)]
    is_open = any("x-open" in cast(JsonObject, one["then"]) for one in matching)
    return not branches or (bool(matching) and not is_open)


def _is_refused(rule: JsonValue) -> bool:
    return isinstance(rule, dict) and "x-instead" in rule


def _matches(condition: JsonObject, value: JsonObject) -> bool:
    """Whether a branch's condition holds; conditions only compare fields with constants."""
    for name, demand in cast(dict[str, JsonObject], condition["properties"]).items():
        options = cast(list[JsonValue], demand.get("enum", [demand.get("const")]))
        if value.get(name) not in options:
            return False
    return True


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
    twin = {key: _closed_member(key, item, document) for key, item in members.items()}
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
        part = _inlined(resolve(rule, document), document)
        others = [other for other in members["allOf"] if other is not rule]
        members = {
            **members,
            "properties": {**part["properties"], **members.get("properties", {})},
            "required": [*part.get("required", ()), *members.get("required", ())],
            "allOf": [*part.get("allOf", ()), *others],
        }
    # An empty list of rules is no valid schema.
    return {key: item for key, item in members.items() if key != "allOf" or item}
