"""The schema of check rubrics: a fixed frame, and a branch for each kind of check."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from steelyard.checks.catalog import Catalog
from steelyard.formats.json_fields import fields, object_field, text_field
from steelyard.formats.schema_names import OWN_NAMES
from steelyard.model.json_value import JsonObject, JsonValue

_NUMBER = "(0|[1-9][0-9]*)"
_PART = "(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = "[0-9A-Za-z-]+"
_VERSION = (
    rf"^{_NUMBER}\.{_NUMBER}(\.{_NUMBER})?(-{_PART}(\.{_PART})*)?(\+{_BUILD}(\.{_BUILD})*)?$"
)
_TITLES = {
    "value": "The text that is expected; without it the case's reference answer.",
    "ignore_case": "Whether capitals and small letters count as equal.",
    "strip": "Whether white space around the response is ignored.",
    "phrases": "The phrases looked for.",
    "match": "Whether the pattern is searched for, or must match the whole response.",
    "max_ms": "Milliseconds at most; without it the case's own limit.",
}


def check_rubric_schema(catalog: Catalog) -> JsonObject:
    """The schema for the kinds of a catalog, and for those that need more than a trace."""
    branches: list[JsonValue] = [
        _branch(kind, kind_fragment(kind, catalog)) for kind in kinds(catalog)
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:steelyard:schema:check_rubric",
        "title": "Check rubric",
        "description": "A versioned set of checks with a scoring rule; may have further fields.",
        "type": "object",
        "required": ["id", "version", "checks", "scoring"],
        "properties": {
            "$schema": _text("Schema for the editor", "Not part of the data."),
            "id": {
                **_text("Rubric id", "snake_case; cases refer to rubric/{id}@{version}."),
                "pattern": "^[a-z][a-z0-9_]*$",
            },
            "version": {
                **_text("Version", "SemVer; a change of scores needs a new major version."),
                "pattern": _VERSION,
            },
            "description": _text("Description", "What the rubric is for."),
            "status": {
                "title": "Status",
                "description": "Where it says published, the first run fixes this version.",
            },
            "checks": {
                "title": "Checks",
                "description": "What is looked at.",
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/check"},
            },
            "scoring": {"$ref": "#/$defs/scoring"},
        },
        "$defs": {
            "check": _check(
                {kind: kind_description(kind, catalog) for kind in kinds(catalog)}, branches
            ),
            "scoring": _scoring(),
            **_stated()["$defs"],
        },
    }


def kinds(catalog: Catalog) -> list[str]:
    """Every kind that a rubric may have, sorted."""
    return sorted({*catalog.kinds, *stated_kinds()})


def stated_kinds() -> list[str]:
    """The kinds of the contract that a trace and a case are not enough for."""
    return [kind for kind in _stated() if kind != "$defs"]


def kind_fragment(kind: str, catalog: Catalog) -> JsonObject:
    """The schema of a kind's settings: its class says it, or else the table of stated kinds."""
    if kind in catalog.kinds:
        return catalog.fragment(kind)
    return {name: value for name, value in _stated()[kind].items() if name != "description"}


def kind_description(kind: str, catalog: Catalog) -> str:
    """What a kind looks for, in a sentence: its class says it, or else the table."""
    if kind in catalog.kinds:
        return catalog.description(kind)
    return text_field(_stated()[kind], "description")


@cache
def _stated() -> dict[str, JsonObject]:
    table = files("steelyard.contracts.check_rubric").joinpath("stated_kinds.json")
    return json.loads(table.read_bytes())


def _check(names: dict[str, str], branches: list[JsonValue]) -> JsonObject:
    return {
        "title": "Check",
        "description": "One way of looking at a trace.",
        "type": "object",
        "required": ["id", "kind"],
        "properties": {
            "id": {**_text("Check id", "Unique in the rubric."), "pattern": r"\S"},
            "kind": {
                "title": "Kind",
                "description": "What sort of check it is; decides the other settings.",
                "enum": [*names],
                "enumDescriptions": [*names.values()],
            },
            "weight": {
                "title": "Weight",
                "description": "How much the score counts; 1 by default.",
                "type": "number",
                "minimum": 0,
                "maximum": 1e300,
            },
            "required": _flag("Required", "Failing it fails the case, whatever the score."),
            "negate": _flag("Negate", "Turn the result round."),
        },
        "allOf": branches,
        **OWN_NAMES,
    }


def _scoring() -> JsonObject:
    return {
        "title": "Scoring",
        "description": "How the results of the checks combine.",
        "type": "object",
        "required": ["combine"],
        "properties": {
            "combine": {
                "title": "Combination",
                "description": "Over passes (all_pass, any_pass) or over scores.",
                "enum": ["all_pass", "any_pass", "weighted_avg", "min", "max", "median"],
            },
            "pass_threshold": {
                "title": "Pass threshold",
                "description": "The score at which a case passes; 0.7 by default.",
                "type": "number",
                "minimum": 0,
                "maximum": 1,
            },
        },
        **OWN_NAMES,
    }


def _branch(kind: str, fragment: JsonObject) -> JsonObject:
    rules = object_field(fragment, "properties")
    titled: JsonObject = {name: _titled(name, kind, fields(rules[name])) for name in rules}
    return {
        "if": {"properties": {"kind": {"enum": [kind]}}, "required": ["kind"]},
        "then": {**fragment, "properties": titled},
    }


def _titled(name: str, kind: str, rule: JsonObject) -> JsonObject:
    """A setting with words for the editor that shows it."""
    if "$ref" in rule:
        return rule
    return {"title": name, "description": _TITLES.get(name, f"A setting of {kind}."), **rule}


def _text(title: str, description: str) -> JsonObject:
    return {"title": title, "description": description, "type": "string"}


def _flag(title: str, description: str) -> JsonObject:
    return {"title": title, "description": description, "type": "boolean"}
