"""The published schemas are sound, and explain every field to the editor that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import jsonschema_rs
import pytest

from fakes.contracts import SCHEMAS
from steelyard.contracts.published_schemas import ARTIFACTS
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject, JsonValue

CORPUS = Path(__file__).parents[1] / "corpus"
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


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_a_schema_obeys_draft_2020_12(name: str) -> None:
    schema = SCHEMAS.load(name)

    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert jsonschema_rs.meta.is_valid(schema)


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_a_schema_has_an_id_of_its_own(name: str) -> None:
    assert SCHEMAS.load(name)["$id"] == f"urn:steelyard:schema:{name}"


STANDARD = {
    *("$schema", "$id", "$ref", "$defs", "$comment", "title", "description", "deprecated"),
    *("default", "examples", "type", "enum", "const", "properties", "required", "minProperties"),
    *("additionalProperties", "unevaluatedProperties", "items", "minItems", "maxItems"),
    *("uniqueItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
    *("exclusiveMinimum", "allOf", "anyOf", "oneOf", "not", "if", "then"),
}


def keywords(node: JsonValue) -> Iterator[str]:
    """Every keyword of a schema and its parts; names of fields are none."""
    if isinstance(node, list):
        for item in node:
            yield from keywords(item)
    if not isinstance(node, dict):
        return
    for name, part in node.items():
        yield name
        if name in {"properties", "$defs"}:
            yield from keywords(list(cast(JsonObject, part).values()))
        elif name not in {"enum", "const", "default", "examples"}:
            yield from keywords(part)


@pytest.mark.parametrize("name", SCHEMAS.names)
def test_a_published_schema_has_keywords_of_the_standard_alone(name: str) -> None:
    """What ajv and others refuse in their default mode: keywords that nobody defines."""
    schema = SCHEMAS.published(name)

    assert set(keywords(schema)) <= STANDARD
    assert schema["$id"] == f"http://127.0.0.1:8765/schemas/{name}.schema.json"
    assert jsonschema_rs.meta.is_valid(schema)


def parts(node: JsonValue) -> Iterator[JsonObject]:
    """A schema and every schema within it."""
    if isinstance(node, list):
        for item in node:
            yield from parts(item)
    if not isinstance(node, dict):
        return
    yield node
    for name, part in node.items():
        if name in {"properties", "$defs"}:
            yield from parts(list(cast(JsonObject, part).values()))
        elif name not in {"enum", "const", "default", "examples"}:
            yield from parts(part)


def refused_by_ajv(part: JsonObject) -> str | None:
    """What ajv's strict mode says of one schema, keywords apart; None where it takes it."""
    if ("if" in part) != ("then" in part or "else" in part):
        return "if without then and else, or these without if"
    if isinstance(part.get("items"), list):
        return "a tuple under items"
    values = cast("list[JsonValue]", part.get("enum", [None]))
    if not values or len({json.dumps(value) for value in values}) < len(values):
        return "an enum without values, or with one twice"
    return None


@pytest.mark.parametrize("name", SCHEMAS.names)
def test_a_published_schema_passes_the_strict_mode_of_ajv(name: str) -> None:
    refusals = [said for part in parts(SCHEMAS.published(name)) if (said := refused_by_ajv(part))]

    assert refusals == []


@pytest.mark.parametrize(
    "part", [{"if": {}}, {"then": {}}, {"items": []}, {"enum": []}, {"enum": [1, 1]}]
)
def test_what_ajv_refuses_is_seen(part: JsonObject) -> None:
    assert [one for one in map(refused_by_ajv, parts({"allOf": [part]})) if one]


def test_a_published_schema_says_what_our_own_keywords_mean() -> None:
    text = json.dumps(SCHEMAS.published("eval_cases"))

    assert '"$comment": "missing: evalcases"' in text
    assert '{"not": {}, "deprecated": true, "description": "write each case' in text
    assert '{"const": "regex", "description": ' in json.dumps(SCHEMAS.published("check_rubric"))


@pytest.mark.parametrize(
    ("family", "file"),
    [
        ("rubric", "check_rubric/valid/every_kind.yaml"),
        ("rubric", "whole/question_rubric-questions.json"),
        ("dataset", "whole/dataset_document-whole.json"),
        ("dataset", "whole/evals_json-whole.json"),
        ("dataset", "question_set/valid/every_field.yaml"),
    ],
)
def test_the_schema_of_a_family_takes_files_of_its_contracts(family: str, file: str) -> None:
    value = parse_yaml((CORPUS / file).read_bytes()).value
    validator = jsonschema_rs.Draft202012Validator(SCHEMAS.published(family))

    assert validator.is_valid(value)
    assert not validator.is_valid({})


@pytest.mark.parametrize("name", [*SCHEMAS.written, *ARTIFACTS])
def test_every_field_of_a_schema_has_a_title_and_a_description(name: str) -> None:
    schema = SCHEMAS.load(name)
    unexplained = [
        path for path, field in fields(schema) if not is_explained(resolved(field, schema))
    ]

    assert unexplained == []


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("question_rubric", "score_without_scale.json"),
        ("judge", "no_such_day.yaml"),
        ("check_rubric", "empty_phrases.yaml"),
        ("dataset_document", "created_at_no_such_day.json"),
    ],
)
def test_a_published_schema_refuses_what_validate_refuses(name: str, file: str) -> None:
    value = parse_yaml((CORPUS / name / "invalid" / file).read_bytes()).value

    assert not jsonschema_rs.Draft202012Validator(SCHEMAS.published(name)).is_valid(value)
