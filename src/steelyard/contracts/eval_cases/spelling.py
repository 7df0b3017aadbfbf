"""The names that eval files have used over time, and which of them a row uses."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.formats.json_fields import text_field
from steelyard.model.json_value import JsonObject, JsonValue

EARLIER = "evalcases"
LATER = "tests"
"""The list of cases in files of the later dialect, which has rules of its own."""
UNREAD = "unread_row"
"""In place of a row of a table that could not be read: why. Steelyard itself writes it."""
CASES = (EARLIER, "eval_cases", "cases", LATER)
GOAL = ("expected_outcome", "outcome", "criteria")
INPUT = ("input_messages", "input")
REFERENCE = ("expected_messages", "expected_output")
EVALUATORS = ("evaluators", "assert", "assertions")
RUBRIC_TEXT = ("description", "outcome", "expected_outcome", "criteria")
DATASET = ("dataset", "name")

AGGREGATOR = {"path": "script", "command": "script"}
"""Other names of an aggregator's settings, and today's."""
SETTINGS = {
    "llm_judge": {"grader_target": "judge_target"},
    "code_judge": {"command": "script"},
    "token_usage": {
        "maxTotal": "max_total",
        "maxInput": "max_input",
        "maxOutput": "max_output",
    },
}
"""Other names of the settings of a type of evaluator, and today's."""
_TYPES = {
    "llm_grader": "llm_judge",
    "llm_rubric": "llm_judge",
    "code_grader": "code_judge",
    "script": "code_judge",
    "rubrics": "rubric",
}


def written(row: JsonObject, names: tuple[str, ...]) -> str | None:
    """The spelling of a field that the row uses."""
    for name in names:
        if name in row:
            return name
    return None


def text_of(row: JsonObject, names: tuple[str, ...]) -> str:
    """A text under whichever spelling; empty where there is none."""
    name = written(row, names)
    return text_field(row, name) if name else ""


def canonical_type(kind: str) -> str:
    """Today's spelling of an evaluator type."""
    underscored = kind.replace("-", "_")
    return _TYPES.get(underscored, underscored)


def respelt(row: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """The same row in today's names."""
    return {names.get(name, name): value for name, value in row.items()}


def without_evaluators(header: JsonObject) -> JsonObject:
    """What a file says for all cases but for its evaluators, which the cases then have."""
    kept = {name: value for name, value in header.items() if name not in EVALUATORS}
    execution = kept.get("execution")
    if isinstance(execution, dict):
        kept["execution"] = {k: v for k, v in execution.items() if k not in EVALUATORS}
    return {name: value for name, value in kept.items() if name != "execution" or value}


def listed_evaluators(row: JsonObject) -> tuple[tuple[str, ...], list[JsonValue]] | None:
    """Where a row or file lists evaluators, and the list: `execution` first, then its own."""
    execution = row.get("execution")
    if isinstance(execution, dict) and (name := written(execution, EVALUATORS)):
        return ("execution", name), _listed(execution[name])
    name = written(row, EVALUATORS)
    return ((name,), _listed(row[name])) if name else None


def _listed(value: JsonValue) -> list[JsonValue]:
    """Names in texts are looked up before the schema has checked that this is a list."""
    return value if isinstance(value, list) else []
