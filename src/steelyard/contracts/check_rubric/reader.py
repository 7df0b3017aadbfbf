"""Reads a check rubric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.schema import check_rubric_schema
from steelyard.contracts.message_rows import beyond
from steelyard.contracts.reading import located_finding
from steelyard.errors import SettingError
from steelyard.formats.json_fields import (
    fields,
    flag_field,
    number_field,
    object_field,
    object_list,
    text_field,
)
from steelyard.formats.lines import Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.reference import exact_version
from steelyard.model.rubric import (
    PASS_THRESHOLD,
    Check,
    Combine,
    Rubric,
    RubricCheck,
    StatedCheck,
)

CONTRACT = "check_rubric"
_HINTS: dict[Path, str] = {
    ("id",): "write small letters, digits and _, such as answer_quality",
    ("version",): 'write two or three numbers in quotes, such as "1.2.0"',
}
_REFERENCES = {
    "judge_prompt_ref": "write judge/id@version, such as judge/accuracy@1.0",
    "rubric_ref": "write rubric/id@version, such as rubric/basic@1.2",
}
_FIELDS = {"id", "version", "description", "checks", "scoring"}
_CHECK = {"id", "kind", "weight", "required", "negate"}


@lru_cache(maxsize=8)
def _schema(classes: tuple[type[Check], ...]) -> Schema:
    return Schema(check_rubric_schema(Catalog(classes)))


def read_check_rubric(
    content: Located, catalog: Catalog, sha256: str | None = None
) -> tuple[Rubric | None, list[Finding]]:
    """The rubric that a file holds, and what is wrong with it; None when it cannot be used."""
    value = content.value
    problems = [_explained(problem) for problem in _schema(catalog.classes).problems(value)]
    rubric = None
    if not any(problem.severity == "error" for problem in problems):
        rubric = _rubric(fields(value), catalog, problems, sha256)
    findings = [
        located_finding(problem, content.lines) for problem in sorted(problems, key=path_order)
    ]
    is_sound = not any(finding.is_error for finding in findings)
    return rubric if is_sound else None, findings


def _rubric(
    row: JsonObject, catalog: Catalog, problems: list[Problem], sha256: str | None
) -> Rubric:
    scoring = object_field(row, "scoring")
    threshold = number_field(scoring, "pass_threshold", PASS_THRESHOLD)
    checks: list[RubricCheck] = []
    seen: set[JsonValue] = set()
    for index, entry in enumerate(object_list(row, "checks")):
        if entry["id"] in seen:
            message = f"{{}} '{entry['id']}' is used by an earlier check"
            path = ("checks", index, "id")
            problems.append(Problem(code="duplicate_record_id", message=message, path=path))
        seen.add(entry["id"])
        problems.extend(_weightless_jury(entry, index))
        made = _check(entry, index, catalog, problems)
        if made:
            checks.append(made)
    return Rubric(
        id=text_field(row, "id"),
        version=exact_version(text_field(row, "version")),
        checks=tuple(checks),
        combine=cast(Combine, scoring["combine"]),
        pass_threshold=float(threshold),
        description=text_field(row, "description", ""),
        sha256=sha256,
        extra=beyond(row, _FIELDS),
    )


def _weightless_jury(entry: JsonObject, index: int) -> Iterator[Problem]:
    """A jury in which nobody counts comes to no score."""
    jury = object_field(entry, "jury")
    jurors = object_list(jury, "judges")
    if jurors and not any(juror.get("weight", 1) for juror in jurors):
        yield Problem(
            code="value_out_of_range",
            message="every juror of {} has weight 0",
            path=("checks", index, "jury", "judges"),
            hint="give at least one of them a weight above 0",
        )


def _check(
    entry: JsonObject, index: int, catalog: Catalog, problems: list[Problem]
) -> RubricCheck | None:
    try:
        check, extra = _made(text_field(entry, "kind"), beyond(entry, _CHECK), catalog)
    except SettingError as wrong:
        path = ("checks", index, wrong.name)
        problems.append(Problem(code="value_out_of_range", message=f"{{}}: {wrong}", path=path))
        return None
    return RubricCheck(
        id=text_field(entry, "id"),
        check=check,
        weight=float(number_field(entry, "weight", 1.0)),
        required=flag_field(entry, "required"),
        negate=flag_field(entry, "negate"),
        extra=extra,
    )


def _made(
    kind: str, settings: JsonObject, catalog: Catalog
) -> tuple[Check | StatedCheck, JsonObject]:
    """A check of its class, and what is no setting of it; else the settings as they stand."""
    if kind not in catalog.kinds:
        return StatedCheck(kind=kind, settings=settings), {}
    known = object_field(catalog.fragment(kind), "properties")
    own = {name: value for name, value in settings.items() if name in known}
    return catalog.make(kind, own), beyond(settings, set(known))


def _explained(problem: Problem) -> Problem:
    """The problem with a hint, where a pattern does not say enough."""
    if problem.code not in {"invalid_field_type", "value_out_of_range"}:
        return problem
    if problem.path == ("version",) and problem.code == "value_out_of_range":
        problem = replace(problem, message="{} is no semantic version")
    name = str(problem.path[-1]) if problem.path else ""
    if problem.path in _HINTS:
        return replace(problem, hint=_HINTS[problem.path])
    if name in _REFERENCES and problem.code == "value_out_of_range":
        kind = name.partition("_")[0]
        return replace(
            problem, message=f"{{}} is no reference to a {kind}", hint=_REFERENCES[name]
        )
    return problem
