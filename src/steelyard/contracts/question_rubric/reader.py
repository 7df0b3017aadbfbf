"""Reads a question rubric."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, cast

from steelyard.contracts.message_rows import beyond
from steelyard.contracts.question_rubric.rules import (
    dimension_key,
    plain_name,
    rubric_problems,
)
from steelyard.contracts.question_rubric.scales import DIMENSION_SCALE, SCALE_HINT, read_scale
from steelyard.contracts.question_rubric.scoring import read_scoring, scoring_problems
from steelyard.contracts.reading import located_finding
from steelyard.contracts.schemas import load_schema
from steelyard.formats.json_fields import (
    fields,
    flag_field,
    object_list,
    optional_objects,
    optional_text,
    text_field,
    text_list,
)
from steelyard.formats.lines import Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import (
    Option,
    Question,
    QuestionRubric,
    RubricStatus,
    Scale,
    Scope,
)
from steelyard.model.question_types import QUESTION_TYPES

CONTRACT = "question_rubric"
_RUBRIC = {"name", "version", "status", "scale", "guidance", "scoring"}
_QUESTION = {"key", "label", "type", "scope", "required", "guidance", "answeredByAuto"}


def read_question_rubric(
    content: Located, sha256: str | None = None
) -> tuple[QuestionRubric | None, list[Finding]]:
    """The rubric that a file holds, and what is wrong with it; None when it cannot be used."""
    value = content.value
    found = [] if _schema().is_clean(value) else _schema().problems(value)
    problems = [_explained(problem, value) for problem in found]
    problems.extend(rubric_problems(value))
    problems.extend(scoring_problems(value))
    findings = [
        located_finding(problem, content.lines) for problem in sorted(problems, key=path_order)
    ]
    if any(finding.is_error for finding in findings):
        return None, findings
    return _rubric(fields(value), sha256), findings


@cache
def _schema() -> Schema:
    return Schema(load_schema(CONTRACT))


def _rubric(row: JsonObject, sha256: str | None) -> QuestionRubric:
    scale = read_scale(row.get("scale"))
    rows = optional_objects(row, "questions")
    named = _RUBRIC | {"dimensions" if rows is None else "questions"}
    if rows is None:
        names = text_list(row, "dimensions")
        questions = [_dimension(name, number) for number, name in enumerate(names, start=1)]
    else:
        questions = [_question(question, scale) for question in rows]
    return QuestionRubric(
        name=text_field(row, "name"),
        version=text_field(row, "version"),
        questions=tuple(questions),
        status=cast(RubricStatus, row.get("status", "draft")),
        scale=scale,
        guidance=tuple(text_list(row, "guidance")),
        scoring=read_scoring(row.get("scoring")),
        sha256=sha256,
        extra=beyond(row, named),
    )


def _question(row: JsonObject, default: Scale | None) -> Question:
    kind = QUESTION_TYPES[text_field(row, "type")]
    options = object_list(row, "options") if kind.needs == "options" else []
    # A field without an effect is kept as the author's own.
    read = {kind.needs} if kind.needs else set[str]()
    return Question(
        key=text_field(row, "key"),
        label=text_field(row, "label"),
        type=kind.name,
        scope=cast(Scope, row.get("scope", "trace")),
        required=flag_field(row, "required"),
        guidance=optional_text(row, "guidance"),
        answered_by_auto=flag_field(row, "answeredByAuto", default=not kind.is_free_text),
        scale=(read_scale(row.get("scale")) or default) if kind.needs == "scale" else None,
        options=tuple(_option(option) for option in options),
        extra=beyond(row, _QUESTION | read),
    )


def _option(row: JsonObject) -> Option:
    return Option(
        value=text_field(row, "value"),
        label=text_field(row, "label"),
        extra=beyond(row, {"value", "label"}),
    )


def _dimension(name: str, number: int) -> Question:
    return Question(
        key=dimension_key(name, number),
        label=name,
        type="score",
        answered_by_auto=True,
        scale=DIMENSION_SCALE,
    )


def _explained(problem: Problem, value: JsonValue) -> Problem:
    """The problem with a hint, where a pattern or a type does not say enough."""
    # Under `scoring` the names are those of questions and options.
    name = problem.path[-1] if problem.path and problem.path[0] != "scoring" else None
    if name == "answeredByAuto" and problem.code == "invalid_enum_value":
        hint = "a comment is free text, which no judge is asked for"
        return replace(problem, message="{} must be false on a comment", hint=hint)
    if problem.code not in {"invalid_field_type", "value_out_of_range"}:
        return problem
    if problem.path == ("version",):
        example = _slug(value, problem, "-") or "agent-quality-v2"
        return replace(problem, hint=f"write small letters, digits and hyphens, such as {example}")
    if name == "key":
        example = _slug(value, problem, "_") or "correctness"
        return replace(problem, hint=f"write small letters, digits and _, such as {example}")
    if name == "scale":
        is_text = problem.code == "value_out_of_range"
        message = "{} must be two integers of up to six digits with a hyphen between them"
        return replace(problem, message=message if is_text else problem.message, hint=SCALE_HINT)
    return problem


def _slug(value: JsonValue, problem: Problem, joint: str) -> str:
    """The text at a problem's path as a name that would be right."""
    found: Any = value
    for part in problem.path:
        found = found[part]
    return plain_name(found, joint) if isinstance(found, str) else ""
