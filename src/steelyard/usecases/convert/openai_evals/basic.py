"""The graders of OpenAI Evals that compare texts, as evaluators of eval cases.

Patterns compare the very characters, as the originals do; `contains` and `starts_with` would also
accept typographic quotes and white space in front.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from steelyard.contracts.importers.source_row import wrong
from steelyard.formats.json_text import parse_json
from steelyard.model.json_value import JsonObject, JsonValue

_NEVER: JsonObject = {"not": {}}


def match(ideals: list[str], args: JsonObject) -> JsonObject:  # noqa: ARG001 - has no settings
    """The answer begins with one of the texts."""
    return {"name": "match", "type": "regex", "value": f"^(?:{_any(ideals)})"}


def includes(ideals: list[str], args: JsonObject) -> JsonObject:
    """The answer contains one of the texts."""
    made: JsonObject = {"name": "includes", "type": "regex", "value": f"(?:{_any(ideals)})"}
    return {**made, "flags": "i"} if args.get("ignore_case") is True else made


def fuzzy_match(ideals: list[str], args: JsonObject) -> JsonObject:  # noqa: ARG001 - the same
    """The answer and one of the texts contain one another."""
    return {"name": "fuzzy_match", "type": "fuzzy_match", "value": [*ideals]}


def json_match(ideals: list[str], args: JsonObject) -> JsonObject:  # noqa: ARG001 - the same
    """The answer is JSON and equal to one of the texts; null is equal to nothing."""
    values = [parse_json(ideal.encode("utf-8", "surrogatepass")) for ideal in ideals]
    equal: list[JsonValue] = [_NEVER if _has_null(value) else {"const": value} for value in values]
    schema: JsonObject = {"anyOf": equal}
    members: list[JsonValue] = [
        {"name": "is_json", "type": "is_json"},
        {"name": "json_schema", "type": "json_schema", "schema": schema},
    ]
    aggregator: JsonObject = {"type": "threshold", "threshold": 1}
    return {
        "name": "json_match",
        "type": "composite",
        "evaluators": members,
        "aggregator": aggregator,
    }


GRADERS: dict[str, Callable[[list[str], JsonObject], JsonObject]] = {
    "evals.elsuite.basic.match:Match": match,
    "evals.elsuite.basic.includes:Includes": includes,
    "evals.elsuite.basic.fuzzy_match:FuzzyMatch": fuzzy_match,
    "evals.elsuite.basic.json_match:JsonMatch": json_match,
}
"""By the class that an entry of the registry names."""


def ideals_of(sample: JsonObject) -> list[str]:
    """The good answers of a sample; raises ParseError where it has none."""
    ideal = sample.get("ideal")
    listed = ideal if isinstance(ideal, list) else [ideal]
    texts = [text for text in listed if isinstance(text, str)]
    if not texts or len(texts) < len(listed):
        raise wrong("'ideal' must be a text or a list of texts")
    return texts


def _any(texts: list[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


def _has_null(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(_has_null(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_null(item) for item in value)
    return value is None
