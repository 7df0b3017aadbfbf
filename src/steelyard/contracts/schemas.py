"""The JSON Schemas of the contracts: as the readers run them, and as they are published."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, cast

from steelyard.errors import NotFoundError
from steelyard.model.json_value import JsonObject, JsonValue

SCHEMAS = (
    "legal_eval",
    "dataset_document",
    "eval_cases",
    "evals_json",
    "question_rubric",
    "question_set",
    "check_rubric",
    "judge",
    "trace",
    "labels",
    "project",
)
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
FAMILIES = {
    "dataset": ("legal_eval", "dataset_document", "eval_cases", "evals_json", "question_set"),
    "rubric": ("question_rubric", "check_rubric"),
}
"""Names for a file that may be of several contracts."""
PUBLISHED = (*SCHEMAS, *ARTIFACTS, *FAMILIES)
ADDRESS = "http://127.0.0.1:8765/schemas"
"""Where `steelyard serve` gives the schemas, unless it is told otherwise."""
SUFFIX = ".schema.json"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"


@cache
def load_schema(name: str) -> JsonObject:
    """A schema as the reader of its contract runs it."""
    folder = "run_artifacts" if name in ARTIFACTS else name
    package = "steelyard" if name == "project" else f"steelyard.contracts.{folder}"
    return json.loads(files(package).joinpath(f"{name}{SUFFIX}").read_bytes())


def published_schema(name: str, address: str = ADDRESS) -> JsonObject:
    """A schema for others: with an address, and in words of the standard alone.

    What only our readers understand, such as `x-missing`, becomes a comment or a description.
    """
    at: JsonObject = {"$schema": _DRAFT, "$id": f"{address}/{name}{SUFFIX}"}
    if name in {*SCHEMAS, *ARTIFACTS}:
        return {**_standard(load_schema(name)), **at}
    if name not in FAMILIES:
        known = ", ".join(PUBLISHED)
        raise NotFoundError(f"unknown schema '{name}'; known schemas: {known}")
    members = FAMILIES[name]
    return {
        **at,
        "title": name.capitalize(),
        "description": f"A {name} of any contract: {', '.join(members)}.",
        "anyOf": [{"$ref": f"#/$defs/{member}"} for member in members],
        "$defs": {member: _member(member) for member in members},
    }


def _member(name: str) -> JsonObject:
    """A schema inside of another: without an address, which the schema itself has."""
    inner = _placed(_standard(load_schema(name)), f"#/$defs/{name}")
    return {key: value for key, value in inner.items() if key not in {"$id", "$schema"}}


def _placed(node: Any, place: str) -> Any:
    """A schema whose references begin at another place."""
    if isinstance(node, list):
        return [_placed(item, place) for item in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    members = cast(dict[str, Any], node)
    return {
        name: place + item.removeprefix("#")
        if name == "$ref" and isinstance(item, str)
        else _placed(item, place)
        for name, item in members.items()
    }


def schema_bytes(name: str) -> bytes:
    """A published schema as a file."""
    return json.dumps(published_schema(name), indent=2, ensure_ascii=False).encode() + b"\n"


def _standard(node: Any, *, is_schema: bool = True) -> Any:
    if isinstance(node, list):
        return [_standard(item) for item in cast(list[Any], node)]
    if not isinstance(node, dict):
        return node
    members = cast(dict[str, Any], node)
    if not is_schema:  # names of fields, which may be those of keywords
        return {name: _standard(rule) for name, rule in members.items()}
    kept = {
        name: item
        if name in {"enum", "const", "default", "examples", "required"}
        else _standard(item, is_schema=name not in {"properties", "$defs"})
        for name, item in members.items()
        if name != "enumDescriptions" and not name.startswith("x-")
    }
    return {**kept, **_explained(members)}


def _explained(members: dict[str, Any]) -> JsonObject:
    """What the keywords of our own say, in keywords of the standard."""
    if "x-instead" in members:
        return {"deprecated": True, "description": members["x-instead"]}
    if "enumDescriptions" in members:
        pairs = zip(members["enum"], members["enumDescriptions"], strict=True)
        options: list[JsonValue] = [{"const": value, "description": said} for value, said in pairs]
        return {"oneOf": options}
    said = [f"{name[2:]}: {item}" for name, item in members.items() if name.startswith("x-")]
    return {"$comment": "; ".join(said)} if said else {}
