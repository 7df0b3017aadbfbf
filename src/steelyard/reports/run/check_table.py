"""The checks of a check rubric as a table, from what its file says, right or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.formats.json_fields import fields
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import PASS_THRESHOLD

_GENERAL = {"id", "kind", "weight", "required", "negate", "description"}
_COMBINED = {
    "all_pass": "passes if every check passes",
    "any_pass": "passes if one check passes",
    "weighted_avg": "the mean of the scores by weight",
    "min": "the lowest score",
    "max": "the highest score",
    "median": "the middle score",
}


class CheckRow(NamedTuple):
    """One check."""

    id: str
    kind: str
    weight: str
    is_required: bool
    is_negated: bool
    description: str
    settings: JsonObject
    """Those of the kind, without the judges."""
    judges: tuple[str, ...]
    """The names of judges that it asks."""


class CheckTable(NamedTuple):
    """The checks, and how their results become one."""

    rows: tuple[CheckRow, ...]
    rule: str
    threshold: str
    description: str


def check_table(row: JsonObject) -> CheckTable:
    """The table of a rubric of any shape."""
    checks, scoring = row.get("checks"), row.get("scoring")
    rule = fields(scoring) if isinstance(scoring, dict) else {}
    combine = rule.get("combine", "weighted_avg")
    threshold = rule.get("pass_threshold", PASS_THRESHOLD)
    return CheckTable(
        rows=tuple(_row(one) for one in checks if isinstance(one, dict))
        if isinstance(checks, list)
        else (),
        rule=_COMBINED.get(str(combine), str(combine)),
        threshold=str(threshold),
        description=_text(row.get("description")),
    )


def _row(check: JsonObject) -> CheckRow:
    return CheckRow(
        id=_text(check.get("id")),
        kind=_text(check.get("kind")),
        weight=str(check.get("weight", 1)),
        is_required=check.get("required") is True,
        is_negated=check.get("negate") is True,
        description=_text(check.get("description")),
        settings=dict(_settings(check)),
        judges=tuple(_judges(check)),
    )


def _settings(check: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    """What is set for the kind; settings of a jury stand beside the others."""
    for name, value in check.items():
        if name in _GENERAL or (isinstance(value, str) and value.startswith("judge/")):
            continue
        if name == "jury" and isinstance(value, dict):
            yield from ((own, one) for own, one in value.items() if own != "judges")
        else:
            yield name, value


def _judges(value: JsonValue) -> Iterator[str]:
    """Every judge that a check names, wherever it stands."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _judges(one)
    elif isinstance(value, list):
        for one in value:
            yield from _judges(one)
    elif isinstance(value, str) and value.startswith("judge/"):
        yield value.removeprefix("judge/")


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
