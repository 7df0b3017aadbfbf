"""`json_schema`."""

from __future__ import annotations

import time

import pytest

from steelyard.checks.json_schema import JsonSchema
from steelyard.errors import SettingError
from steelyard.model.case import Case
from steelyard.model.json_value import JsonObject
from strategies.traces import said

ORDER: JsonObject = {
    "type": "object",
    "required": ["id", "lines"],
    "properties": {
        "id": {"type": "string", "pattern": "^o-[0-9]+$"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
    },
    "$defs": {"line": {"type": "object", "properties": {"price": {"minimum": 0}}}},
}


@pytest.mark.parametrize(
    ("response", "passed"),
    [
        ('{"id": "o-1", "lines": []}', True),
        ('Sure:\n```json\n{"id": "o-1", "lines": [{"price": 2}]}\n```\nDone.', True),
        ('{"id": "o-1", "lines": [{"price": -2}]}', False),
        ('{"id": "1", "lines": []}', False),
        ('{"id": "o-1"}', False),
        ("[]", False),
        ("o-1", False),
        ("", False),
    ],
)
def test_the_json_of_the_response_must_fit(response: str, passed: bool) -> None:
    outcome = JsonSchema(schema=ORDER).check(said(response), Case(id="a"))

    assert (outcome.passed, outcome.score) == (passed, float(passed))


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ('{"id": "o-1", "lines": []}', "is JSON that fits the schema"),
        (
            '{"id": "o-1", "lines": [{}, {"price": -2}]}',
            "does not fit the schema at lines[1].price: -2 is less than the minimum of 0",
        ),
        ("[]", 'does not fit the schema at the top level: [] is not of type "object"'),
        ("Hm.", "is not JSON: invalid character (column 1); got 'Hm.'"),
    ],
)
def test_the_reason_names_the_place(response: str, reason: str) -> None:
    outcome = JsonSchema(schema=ORDER).check(said(response), Case(id="a"))

    assert outcome.reason == reason


def test_a_long_value_is_clipped_in_the_reason() -> None:
    outcome = JsonSchema(schema={"type": "object"}).check(
        said('"' + "x" * 10_000 + '"'), Case(id="a")
    )

    assert len(outcome.reason) < 220


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strin"}, 'not a JSON Schema at type: "strin" is not valid under any of'),
        ({"minLength": "x"}, 'not a JSON Schema at minLength: "x" is not of type "integer"'),
        ({"$ref": "#/$defs/none"}, "not a JSON Schema: Pointer '/$defs/none' does not exist"),
        ({"$ref": "https://example.org/x"}, "nothing is fetched, not even https://example.org/x"),
        ({"$ref": "file:///etc/hosts"}, "nothing is fetched, not even file:///etc/hosts"),
        ({"pattern": "(?=a)"}, '"(?=a)" is not a "regex"'),
        ({"$schema": "urn:none", "type": "object"}, "Unknown meta-schema: 'urn:none'"),
        ({"title": "\ud800"}, "not a JSON Schema: "),
    ],
)
def test_what_is_no_schema_is_refused(schema: JsonObject, reason: str) -> None:
    """CR-10"""
    with pytest.raises(SettingError) as caught:
        JsonSchema(schema=schema)

    assert caught.value.name == "schema"
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("dialect", "passed"),
    [
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, True),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, False),
        ({}, False),
    ],
)
def test_the_schema_may_name_a_draft_other_than_2020_12(dialect: JsonObject, passed: bool) -> None:
    """Draft 7 does not know `prefixItems`."""
    check = JsonSchema(schema={**dialect, "prefixItems": [{"type": "string"}]})

    assert check.check(said("[1]"), Case(id="a")).passed is passed


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {"$dynamicAnchor": "x", "$dynamicRef": "#x"},
    ],
)
def test_a_schema_that_refers_to_itself_does_not_go_on_forever(schema: JsonObject) -> None:
    assert JsonSchema(schema=schema).check(said("{}"), Case(id="a")).passed


def test_no_pattern_takes_more_than_linear_time() -> None:
    check = JsonSchema(schema={"pattern": "^(a|a)*$"})
    started = time.process_time()
    outcome = check.check(said('"' + "a" * 100_000 + '!"'), Case(id="a"))

    assert not outcome.passed
    assert time.process_time() - started < 1


def test_checks_with_the_same_schema_are_equal_and_have_a_hash() -> None:
    assert JsonSchema(schema={"type": "object"}) == JsonSchema(schema={"type": "object"})
    assert JsonSchema(schema={"type": "object"}) != JsonSchema(schema={"type": "array"})
    assert len({JsonSchema(schema={}), JsonSchema(schema={})}) == 1
