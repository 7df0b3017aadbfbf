"""The published schemas are sound, and explain every field to the editor that shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import jsonschema_rs
import pytest

from steelyard.contracts.schemas import SCHEMAS, load_schema
from steelyard.model.json_value import JsonObject, JsonValue

# Under these words `properties` states a condition on a field, not the field.
CONDITIONS = {"if", "not", "anyOf"}


def fields(node: JsonValue, path: str = "#") -> Iterator[tuple[str, JsonObject]]:
    """Every field that a schema defines at any depth, with its path."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from fields(item, f"{path}/{index}")
    if not isinstance(node, dict):
        return
    properties = node.get("properties")
    if isinstance(properties, dict):
        for name, field in properties.items():
            yield f"{path}/{name}", cast(JsonObject, field)
            yield from fields(field, f"{path}/{name}")
    for name, part in node.items():
        if name not in {"properties", *CONDITIONS}:
            yield from fields(part, f"{path}/{name}")


def resolved(field: JsonObject, document: JsonObject) -> JsonObject:
    pointer = field.get("$ref")
    if not isinstance(pointer, str):
        return field
    target: JsonValue = document
    for part in pointer.removeprefix("#/").split("/"):
        target = cast(JsonObject, target)[part]
    return {**cast(JsonObject, target), **field}


def is_explained(field: JsonObject) -> bool:
    if "x-instead" in field:  # a name that is refused says what to write instead
        return bool(field["x-instead"])
    return bool(field.get("title")) and bool(field.get("description"))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_obeys_draft_2020_12(name: str) -> None:
    schema = load_schema(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.is_valid(schema)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_has_an_id_of_its_own(name: str) -> None:
    assert load_schema(name)["$id"] == f"urn:steelyard:schema:{name}"


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_field_of_a_schema_has_a_title_and_a_description(name: str) -> None:
    schema = load_schema(name)
    unexplained = [
        path for path, field in fields(schema) if not is_explained(resolved(field, schema))
    ]

    assert unexplained == []
