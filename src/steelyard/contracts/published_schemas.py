"""The JSON Schemas as they are published: of contracts, artifacts and families."""

from __future__ import annotations

import json

from steelyard.contracts.catalog import Contracts
from steelyard.contracts.schemas import SUFFIX, load_schema
from steelyard.errors import ConfigError, NotFoundError
from steelyard.formats.json_fields import fields, list_field
from steelyard.model.json_value import JsonObject, JsonValue

OTHERS = {"trace": "", "labels": "", "project": "steelyard"}
"""The schemas of files that are no contract of the catalog, each with its package."""
ARTIFACTS = {
    "run_manifest": "run_manifest.json",
    "record_validation": "record_validation.jsonl",
    "prediction": "predictions.jsonl",
    "attempt_log": "attempt_logs.jsonl",
    "failure": "failures.jsonl",
    "metrics_summary": "metrics_summary.json",
    "metrics_by_slice": "metrics_by_slice.json",
}
"""The schemas of what a run leaves behind, each with the file that it is for."""
FAMILIES = ("dataset", "rubric")
"""Names for a file that may be of several contracts."""
ADDRESS = "http://127.0.0.1:8765/schemas"
"""Where `steelyard serve` serves the schemas by default."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Schemas:
    """The schemas of contracts and artifacts, as readers run them and as they are published."""

    def __init__(self, contracts: Contracts) -> None:
        self._contracts = contracts
        of_contracts = {one.name: one.package for one in contracts.all if one.package}
        self._packages = {
            **of_contracts,
            **OTHERS,
            **dict.fromkeys(ARTIFACTS, "steelyard.results"),
        }
        self.written = (*of_contracts, *OTHERS)
        """The schemas of files that people write."""
        self.names = (*self._packages, *FAMILIES)

    def load(self, name: str) -> JsonObject:
        """A schema as the reader of its contract runs it."""
        try:
            return load_schema(name, self._packages[name])
        except (OSError, ImportError, ValueError) as wrong:
            raise ConfigError(f"the contract '{name}' has no schema: {wrong}") from None

    def published(self, name: str, address: str = ADDRESS) -> JsonObject:
        """A schema for others: with an address, and in words of the standard alone.

        What only our readers understand, such as `x-missing`, becomes a comment or a description.
        """
        at: JsonObject = {"$schema": _DRAFT, "$id": f"{address}/{name}{SUFFIX}"}
        if name in self._packages:
            return {**fields(_standard(self.load(name))), **at}
        if name not in FAMILIES:
            known = ", ".join(self.names)
            raise NotFoundError(f"unknown schema '{name}'; known schemas: {known}")
        family = self._contracts.of_kind(name)
        members = [member for member in family if member in self._packages]
        return {
            **at,
            "title": name.capitalize(),
            "description": f"A {name} of any contract: {', '.join(members)}.",
            "anyOf": [{"$ref": f"#/$defs/{member}"} for member in members],
            "$defs": {member: self._member(member) for member in members},
        }

    def as_file(self, name: str) -> bytes:
        """A published schema as a file."""
        return json.dumps(self.published(name), indent=2, ensure_ascii=False).encode() + b"\n"

    def _member(self, name: str) -> JsonObject:
        """A schema inside of another: without an address, which the schema itself has."""
        inner = fields(_placed(_standard(self.load(name)), f"#/$defs/{name}"))
        return {key: value for key, value in inner.items() if key not in {"$id", "$schema"}}


def _placed(node: JsonValue, place: str) -> JsonValue:
    """A schema whose references begin at another place."""
    if isinstance(node, list):
        return [_placed(item, place) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        name: place + item.removeprefix("#")
        if name == "$ref" and isinstance(item, str)
        else _placed(item, place)
        for name, item in node.items()
    }


def _standard(node: JsonValue, *, is_schema: bool = True) -> JsonValue:
    if isinstance(node, list):
        return [_standard(item) for item in node]
    if not isinstance(node, dict):
        return node
    if not is_schema:  # names of fields, which may be those of keywords
        return {name: _standard(rule) for name, rule in node.items()}
    kept = {
        name: item
        if name in {"enum", "const", "default", "examples", "required"}
        else _standard(item, is_schema=name not in {"properties", "$defs"})
        for name, item in node.items()
        if name != "enumDescriptions" and not name.startswith("x-")
    }
    return {**kept, **_explained(node)}


def _explained(members: JsonObject) -> JsonObject:
    """What the keywords of our own say, in keywords of the standard."""
    if "x-instead" in members:
        return {"deprecated": True, "description": members["x-instead"]}
    if "enumDescriptions" in members:
        texts = list_field(members, "enumDescriptions")
        pairs = zip(list_field(members, "enum"), texts, strict=True)
        options: list[JsonValue] = [{"const": value, "description": text} for value, text in pairs]
        return {"oneOf": options}
    notes = [f"{name[2:]}: {item}" for name, item in members.items() if name.startswith("x-")]
    return {"$comment": "; ".join(notes)} if notes else {}
