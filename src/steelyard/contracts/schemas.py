"""The published JSON Schemas, by name."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from steelyard.errors import NotFoundError
from steelyard.model.json_value import JsonObject

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
    "project",
)


def schema_bytes(name: str) -> bytes:
    """A published schema as it stands in the package."""
    if name not in SCHEMAS:
        known = ", ".join(SCHEMAS)
        raise NotFoundError(f"unknown schema '{name}'; known schemas: {known}")
    package = "steelyard" if name == "project" else f"steelyard.contracts.{name}"
    return files(package).joinpath(f"{name}.schema.json").read_bytes()


@cache
def load_schema(name: str) -> JsonObject:
    """A published schema, parsed."""
    return json.loads(schema_bytes(name))
