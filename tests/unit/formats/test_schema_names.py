from __future__ import annotations

import copy

import jsonschema_rs
import pytest

from fakes.contracts import SCHEMAS
from steelyard.formats.schema_names import (
    OWN_NAMES,
    UnknownName,
    closed,
    resolve,
    unknown_names,
)
from steelyard.model.json_value import JsonObject, JsonValue

PERSON: JsonObject = {
    "type": "object",
    "required": ["kind"],
    "properties": {"kind": {"type": "string"}, "friend": {"$ref": "#"}, "notes": {}},
    "allOf": [
        {
            "if": {"properties": {"kind": {"enum": ["cat", "dog"]}}, "required": ["kind"]},
            "then": {
                "properties": {"paws": {"type": "integer"}},
                "allOf": [
                    {
                        "if": {"properties": {"paws": {"enum": [3]}}, "required": ["paws"]},
                        "then": {"properties": {"reason": {"type": "string"}}},
                    }
                ],
            },
        },
        {
            "if": {"properties": {"kind": {"const": "bird"}}, "required": ["kind"]},
            "then": {"properties": {"wings": {"type": "integer"}}},
        },
    ],
}
PARTS: JsonObject = {
    "type": "object",
    "allOf": [{"$ref": "#/$defs/common"}, {"not": {"required": ["x", "y"]}}],
    "properties": {"own": {"type": "array", "items": {"$ref": "#/$defs/leaf"}}},
    "$defs": {
        "common": {
            "properties": {"shared": {"$ref": "#/$defs/leaf"}, "x": {}, "y": {}},
            "required": ["shared"],
            "allOf": [{"not": {"required": ["y", "own"]}}],
        },
        "leaf": {"type": ["object", "string"], "properties": {"name": {"type": "string"}}},
    },
}
TABLE: JsonObject = {
    "type": "object",
    "properties": {
        "strict": {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
        "by_name": {"type": "object", "additionalProperties": {"$ref": "#/$defs/row"}},
        "free": {"type": "object"},
    },
    "$defs": {"row": {"type": "object", "properties": {"value": {}}}},
}


def unknown(schema: JsonObject, value: JsonValue, *, only_open: bool = False) -> list[str]:
    found = unknown_names(schema, value, only_open=only_open)
    return [".".join(str(part) for part in (*one.path, one.name)) for one in found]


def is_clean(schema: JsonObject, value: JsonValue) -> bool:
    return jsonschema_rs.Draft202012Validator(closed(schema)).is_valid(value)


# --- resolve


def test_a_rule_without_a_reference_stands_for_itself() -> None:
    assert resolve({"type": "string"}, {}) == {"type": "string"}


def test_a_reference_is_followed_to_its_end() -> None:
    document: JsonObject = {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/c"}, "c": {"type": "null"}}
    }

    assert resolve({"$ref": "#/$defs/a"}, document) == {"type": "null"}


def test_a_reference_may_name_the_whole_document() -> None:
    assert resolve({"$ref": "#"}, PERSON) == PERSON


def test_words_beside_a_reference_stay_and_win() -> None:
    document: JsonObject = {"$defs": {"a": {"type": "array", "minItems": 0}}}

    resolved = resolve({"$ref": "#/$defs/a", "minItems": 1, "$defs": {}}, document)

    assert resolved == {"type": "array", "minItems": 1}


# --- unknown names


@pytest.mark.parametrize(
    ("schema", "value", "names"),
    [
        (PERSON, {"kind": "fish", "notes": {"anything": 1}}, []),
        (PERSON, {"kind": "fish", "paws": 4}, ["paws"]),
        (PERSON, {"kind": "cat", "paws": 4}, []),
        (PERSON, {"kind": "cat", "wings": 4}, ["wings"]),
        (PERSON, {"kind": "bird", "wings": 2}, []),
        (PERSON, {"kind": "dog", "paws": 3, "reason": "an accident"}, []),
        (PERSON, {"kind": "dog", "paws": 4, "reason": "?"}, ["reason"]),
        (PERSON, {"kind": "cat", "friend": {"kind": "dog", "wings": 0}}, ["friend.wings"]),
        (PERSON, {"kind": ["cat"], "paws": 4}, ["paws"]),
        (PERSON, {"paws": 4}, ["paws"]),
        (PARTS, {"shared": "s", "x": 1, "own": ["a", {"name": "b"}]}, []),
        (
            PARTS,
            {"shared": {"nmae": 1}, "own": [{"name": "b"}, {"z": 1}]},
            ["shared.nmae", "own.1.z"],
        ),
        (PARTS, {"other": 1}, ["other"]),
        (TABLE, {"free": {"anything": {"goes": 1}}}, []),
        (
            TABLE,
            {"by_name": {"any": {"value": 1}, "other": {"vlaue": 1}}},
            ["by_name.other.vlaue"],
        ),
        (TABLE, {"strict": {"a": 1, "b": 2}}, ["strict.b"]),
        (TABLE, "a text", []),
        (TABLE, [{"z": 1}], []),
    ],
)
def test_names_are_known_by_level_and_by_branch(
    schema: JsonObject, value: JsonValue, names: list[str]
) -> None:
    assert unknown(schema, value) == names


def test_what_the_schema_closes_itself_can_be_passed_over() -> None:
    value: JsonValue = {"strict": {"b": 2}, "other": 1}

    assert unknown(TABLE, value, only_open=True) == ["other"]


def test_the_known_names_come_with_the_unknown_one() -> None:
    value: JsonValue = {"kind": "cat", "pwas": 4}

    assert list(unknown_names(PERSON, value)) == [
        UnknownName((), "pwas", frozenset({"kind", "friend", "notes", "paws"}))
    ]


OWNED: JsonObject = {**PERSON, **OWN_NAMES}
BAG: JsonObject = {
    **OWN_NAMES,
    "properties": {"kind": {}, "old": {"not": {}, "x-instead": "use new"}},
    "allOf": [
        {
            "if": {"properties": {"kind": {"enum": ["bag"]}}, "required": ["kind"]},
            "then": {"properties": {"size": {}}, "additionalProperties": True},
        }
    ],
}


def test_a_kind_may_take_any_name() -> None:
    (unknown,) = unknown_names(BAG, {"kind": "bag", "odl": 1})

    assert (unknown.is_owned, unknown.known) == (False, {"kind", "size"})


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"kind": "cat", "wings": 2}, [("wings", True, ("bird",))]),
        ({"kind": "cat", "colour": "red"}, [("colour", True, ())]),
        ({"kind": "cat", "x-colour": "red", "description": "A cat."}, []),
        ({"kind": "dragon", "wings": 2, "colour": "red"}, [("colour", False, ())]),
    ],
)
def test_a_kind_owns_all_names_where_the_schema_says_so(
    value: JsonValue, found: list[tuple[str, bool, tuple[str, ...]]]
) -> None:
    unknown = unknown_names(OWNED, value, only_open=True)

    assert [(one.name, one.is_owned, one.owners) for one in unknown] == found


# --- the closed twin


@pytest.mark.parametrize(
    ("schema", "value", "clean"),
    [
        (PERSON, {"kind": "fish", "notes": {"anything": 1}}, True),
        (PERSON, {"kind": "fish", "paws": 4}, False),
        (PERSON, {"kind": "cat", "paws": 4}, True),
        (PERSON, {"kind": "cat", "wings": 2}, False),
        (PERSON, {"kind": "dog", "paws": 3, "reason": "an accident"}, True),
        (PERSON, {"kind": "cat", "friend": {"kind": "dog", "wings": 0}}, False),
        (PERSON, {"notes": 1}, False),
        (PARTS, {"shared": "s", "x": 1, "own": ["a", {"name": "b"}]}, True),
        (PARTS, {"x": 1}, False),
        (PARTS, {"shared": "s", "x": 1, "y": 1}, False),
        (PARTS, {"shared": "s", "y": 1, "own": ["a"]}, False),
        (PARTS, {"shared": {"nmae": "x"}}, False),
        (TABLE, {"free": {"anything": 1}, "by_name": {"any": {"value": 1}}}, True),
        (TABLE, {"by_name": {"any": {"vlaue": 1}}}, False),
        (TABLE, {"strict": {"b": 2}}, False),
        (TABLE, {"other": 2}, False),
    ],
)
def test_the_closed_twin_refuses_every_unknown_name(
    schema: JsonObject, value: JsonValue, clean: bool
) -> None:
    assert is_clean(schema, value) is clean


def test_closing_leaves_the_schema_as_it_was() -> None:
    before = copy.deepcopy(PARTS)

    closed(PARTS)

    assert before == PARTS


def test_constants_are_not_taken_for_rules() -> None:
    schema: JsonObject = {"enum": [{"type": "object", "properties": {"a": 1}}]}

    assert closed(schema) == schema


@pytest.mark.parametrize("name", SCHEMAS.written)
def test_the_closed_twin_of_a_published_schema_is_a_schema(name: str) -> None:
    jsonschema_rs.Draft202012Validator(closed(SCHEMAS.load(name)))


def test_the_closed_twin_of_a_document_of_parts_refuses_other_names() -> None:
    document: JsonObject = {
        "dataset_id": "d",
        "dataset_version": "1",
        "schema_version": "1.0",
        "records": [{"record_id": "r", "input": {"prompt": "x"}}],
    }

    assert is_clean(SCHEMAS.load("dataset_document"), document)
    assert not is_clean(SCHEMAS.load("dataset_document"), {**document, "recrods": []})
