"""Reads a judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import cast

from steelyard.contracts.judge.template import VARIABLES, answer_problems
from steelyard.contracts.message_rows import beyond
from steelyard.contracts.offered_values import offered_problems
from steelyard.contracts.reading import located_finding
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import (
    fields,
    optional_number,
    optional_object,
    optional_text,
    text_field,
    text_list,
)
from steelyard.formats.lines import Located
from steelyard.formats.mustache_tags import template_problems
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.judge import Judge, ScoreType, Validation
from steelyard.model.reference import exact_version

CONTRACT = "judge"
_VALIDATED_AT = ("validation", "validated_at")
_DAY = "write a day, such as 2026-01-15, or a time, such as 2026-01-15T10:05:12Z"
_HINTS: dict[Path, str] = {
    ("id",): "write small letters, digits and _, such as answer_quality",
    ("version",): 'write two or three numbers in quotes, such as "1.2.0"',
    _VALIDATED_AT: _DAY,
}
_MESSAGES: dict[Path, str] = {
    ("version",): "{} is no semantic version",
    _VALIDATED_AT: "{} is not a time of the calendar",
}
_FIELDS = {
    *("id", "version", "description", "template", "score_type", "level_names"),
    *("validation", "applicable_to"),
}
_SETTINGS = {"level_names": "levels", "step": "continuous"}
"""Which score type a setting has an effect on."""
_SCORE_TYPES = ("binary", "continuous", "levels")
_VALIDATION = {"tpr", "tnr", "validated_against", "validated_at", "sample_size"}


@cache
def _schema() -> Schema:
    return Schema(load_schema(CONTRACT))


def read_judge(content: Located, sha256: str | None = None) -> tuple[Judge | None, list[Finding]]:
    """The judge that a file holds, and what is wrong with it; None when it cannot be used."""
    value = content.value
    problems = [_explained(problem) for problem in _schema().problems(value)]
    wrong = {problem.path for problem in problems if problem.severity == "error"}
    problems.extend(_beyond_the_schema(value, wrong))
    findings = [
        located_finding(problem, content.lines) for problem in sorted(problems, key=path_order)
    ]
    if any(finding.is_error for finding in findings):
        return None, findings
    return _judge(fields(value), sha256), findings


def moment(text: str) -> datetime | None:
    """The time that `validated_at` names, in UTC unless it says otherwise; None for no time."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def time_of(validated_at: str) -> datetime:
    """The time of a validation, to be put in order; what is no time comes first."""
    return moment(validated_at) or datetime.min.replace(tzinfo=UTC)


def _judge(row: JsonObject, sha256: str | None) -> Judge:
    is_limited = row.get("applicable_to") is not None
    return Judge(
        id=text_field(row, "id"),
        version=exact_version(text_field(row, "version")),
        template=text_field(row, "template"),
        score_type=cast(ScoreType, row.get("score_type", "continuous")),
        level_names=tuple(text_list(row, "level_names")),
        validation=_validation(optional_object(row, "validation")),
        applicable_to=tuple(text_list(row, "applicable_to")) if is_limited else None,
        description=text_field(row, "description", ""),
        sha256=sha256,
        extra=beyond(row, _FIELDS),
    )


def _validation(row: JsonObject | None) -> Validation | None:
    if row is None:
        return None
    size = optional_number(row, "sample_size")
    return Validation(
        tpr=optional_number(row, "tpr"),
        tnr=optional_number(row, "tnr"),
        validated_against=optional_text(row, "validated_against"),
        validated_at=optional_text(row, "validated_at"),
        # JSON Schema takes 200.0 for an integer.
        sample_size=None if size is None else int(size),
        extra=beyond(row, _VALIDATION),
    )


def _beyond_the_schema(value: JsonValue, wrong: set[Path]) -> Iterator[Problem]:
    """What a JSON Schema cannot state: the template's language and the calendar."""
    row = value if isinstance(value, dict) else {}
    template, validation = row.get("template"), row.get("validation")
    if isinstance(template, str) and not any("template" in path for path in wrong):
        broken = template_problems(template, VARIABLES)
        yield from broken or answer_problems(template)
    yield from _settings_of_other_types(row)
    levels = row.get("level_names")
    listed = enumerate(levels if isinstance(levels, list) else [])
    yield from offered_problems((("level_names", place), level) for place, level in listed)
    time = validation.get("validated_at") if isinstance(validation, dict) else None
    if isinstance(time, str) and _VALIDATED_AT not in wrong and moment(time) is None:
        message = _MESSAGES[_VALIDATED_AT]
        yield Problem(code="value_out_of_range", message=message, path=_VALIDATED_AT, hint=_DAY)


def _settings_of_other_types(row: JsonObject) -> Iterator[Problem]:
    score_type = row.get("score_type", "continuous")
    for name, owner in _SETTINGS.items():
        if name in row and score_type in _SCORE_TYPES and score_type != owner:
            yield Problem(
                code="unknown_field",
                message=f"{{}} has no effect on a {score_type} judge",
                path=(name,),
                hint=f"'{name}' is a setting of score_type {owner}",
                severity="warning",
            )


def _explained(problem: Problem) -> Problem:
    """The problem with a hint, where a pattern does not say enough."""
    if problem.path in _MESSAGES and problem.code == "value_out_of_range":
        problem = replace(problem, message=_MESSAGES[problem.path])
    if problem.code in {"invalid_field_type", "value_out_of_range"} and problem.path in _HINTS:
        return replace(problem, hint=_HINTS[problem.path])
    return problem
