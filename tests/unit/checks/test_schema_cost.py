"""How much work a JSON Schema makes."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.checks.schema_cost import SchemaCost
from steelyard.errors import SettingError
from steelyard.model.json_value import JsonValue

AND_OR: dict[str, Any] = {
    "$id": "https://schemas.example/expression",
    "anyOf": [
        {"properties": {"op": {"const": name}, "args": {"items": {"$ref": "#"}}}}
        for name in ("and", "or")
    ],
}
"""Recursive: both branches look at the same list, so that the work doubles with every level."""
TREE = {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#/properties/left"}}}


def references(levels: int, times: int) -> dict[str, Any]:
    """A schema of subschemas that refer to the next one so many times."""
    found: dict[str, Any] = {
        f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * times}
        for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**found, f"d{levels}": {"type": "object"}}}


def nested(levels: int, key: str = "args") -> JsonValue:
    value: JsonValue = {}
    for _ in range(levels):
        value = {key: [value]} if key == "args" else {key: value}
    return value


def is_bearable(schema: dict[str, Any], value: JsonValue) -> bool:
    cost = SchemaCost(schema)
    cost.require_resolved()
    return cost.is_bearable(value, 1000)


@pytest.mark.parametrize(("levels", "times"), [(12, 10), (400, 2)])
def test_references_that_stand_for_too_many_subschemas_are_refused(
    levels: int, times: int
) -> None:
    with pytest.raises(SettingError, match="stands for more than 100,000 subschemas"):
        SchemaCost(references(levels, times))


@pytest.mark.parametrize("levels", [600, 60_000])
def test_references_that_lead_on_for_too_long_are_refused(levels: int) -> None:
    with pytest.raises(SettingError, match="more than 1,000 subschemas lead to one another"):
        SchemaCost(references(levels, 1))


@pytest.mark.parametrize(
    "schema",
    [
        {"$anchor": "a", "properties": {"x": {"$ref": "#a"}}},
        {"$defs": {"a/b": {}}, "$ref": "#/$defs/a~1b"},
        {"$id": "urn:one", "$defs": {"a": {"$id": "urn:two"}}, "$ref": "urn:two"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"yes": True}, "$ref": "#/$defs/yes"},
        {"allOf": [{"type": "object"}, {"$ref": "#/allOf/0"}]},
        {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://a.example/b#"},
        {"properties": [], "allOf": 3, "$ref": 4},
        references(4, 10),
    ],
)
def test_ordinary_references_are_followed(schema: dict[str, Any]) -> None:
    assert is_bearable(schema, {"x": {"x": 1}})


@pytest.mark.parametrize("name", ["#nowhere", "#/$defs/none", "#/allOf/7", "urn:elsewhere"])
def test_a_reference_that_leads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(SettingError, match="cannot be followed"):
        is_bearable({"allOf": [{"$ref": name}]}, {})


def test_work_that_doubles_with_every_level_of_a_value_is_bounded() -> None:
    assert is_bearable(AND_OR, nested(10))
    assert not is_bearable(AND_OR, nested(40))


def test_a_deep_or_wide_value_of_a_tree_is_no_more_work_than_its_size() -> None:
    assert is_bearable(TREE, nested(90, "left"))
    wide = list[JsonValue](nested(1) for _ in range(20_000))
    assert is_bearable({"items": {"$ref": "#"}}, wide)


def test_a_large_value_is_bounded_by_the_subschemas_that_it_meets() -> None:
    schema = references(4, 10)
    cost = SchemaCost({**schema, "items": {"$ref": "#/$defs/d0"}})

    few, many = list[JsonValue]([1] * 100), list[JsonValue]([1] * 10_000)
    assert cost.is_bearable(few, 10_000_000)
    assert not cost.is_bearable(many, 10_000_000)


def test_unevaluated_members_are_looked_for_by_applying_everything_again() -> None:
    levels = {
        f"d{n}": {"unevaluatedProperties": False, "$ref": f"#/$defs/d{n + 1}"} for n in range(17)
    }
    with pytest.raises(SettingError, match="more than 100,000"):
        SchemaCost({"$ref": "#/$defs/d0", "$defs": {**levels, "d17": {}}})
