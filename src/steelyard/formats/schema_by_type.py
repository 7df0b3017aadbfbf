"""Objects whose field `type` decides which of a schema's branches count.

A schema with a branch for each type is asked for every value whether each branch counts. Here the
schema of one type is written out of the same rules: a value is looked at by the branches of its
own type alone.
"""

from __future__ import annotations

from typing import Any, cast

from steelyard.formats.schema import Schema
from steelyard.formats.schema_names import resolve
from steelyard.model.json_value import JsonObject, JsonValue

_ASIDE = ("properties", "required", "allOf")
_OF_TYPE = "of_type"


class SchemaByType:
    """Checks values against a subschema of a document, each by what holds for its type."""

    def __init__(self, document: JsonObject, name: str) -> None:
        """`name` is that of the subschema, under `$defs`."""
        self._document = document
        self._name = name
        self._of_any = Schema(document, f"#/$defs/{name}")
        self._of_type: dict[str, Schema] = {}
        node = cast("dict[str, Any]", resolve({"$ref": f"#/$defs/{name}"}, document))
        self._types = {kind for branch in node["allOf"] for kind in _types_of(branch)}

    def is_clean(self, value: JsonValue) -> bool:
        """Whether a value has no problem at all."""
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in self._types:
            return self._of_any.is_clean(value)
        schema = self._of_type.get(kind)
        if schema is None:
            schema = self._of_type[kind] = self._made(kind)
        return schema.is_clean(value)

    def _made(self, kind: str) -> Schema:
        definitions = cast("dict[str, Any]", self._document["$defs"])
        of_type = _written_out(definitions[self._name], kind)
        made = {**self._document, "$defs": {**definitions, _OF_TYPE: of_type}}
        return Schema(cast(JsonObject, made), f"#/$defs/{_OF_TYPE}")


def _types_of(branch: dict[str, Any]) -> list[str]:
    """The types for which a branch counts; none where it asks for something else."""
    condition = branch.get("if", {})
    if condition.keys() != {"properties", "required"} or condition["required"] != ["type"]:
        return []
    asked = condition["properties"]
    return asked["type"]["enum"] if asked.keys() == {"type"} else []


def _written_out(node: dict[str, Any], kind: str) -> dict[str, Any]:
    """The schema of a type: its branches become part of the schema, all others fall away."""
    made = {**node, "allOf": list[Any]()}
    for branch in node["allOf"]:
        types = _types_of(branch)
        if not types:
            made["allOf"].append(branch)
        elif kind in types:
            made = _merged(made, branch["then"])
    # An empty list of rules is no valid schema.
    return {key: rule for key, rule in made.items() if key != "allOf" or rule}


def _merged(node: dict[str, Any], branch: dict[str, Any]) -> dict[str, Any]:
    """A schema with a branch that counts in any case."""
    further = {key: rule for key, rule in branch.items() if key not in _ASIDE}
    known, more = node["properties"], branch.get("properties", {})
    both = {name: {"allOf": [known[name], more[name]]} for name in known.keys() & more.keys()}
    return {
        **node,
        "properties": {**known, **more, **both},
        "required": [*node.get("required", ()), *branch.get("required", ())],
        "allOf": [*node["allOf"], *branch.get("allOf", ()), *([further] if further else [])],
    }
