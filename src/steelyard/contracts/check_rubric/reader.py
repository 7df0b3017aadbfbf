"""Reads a check rubric."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from steelyard.checks.catalog import Catalog
from steelyard.contracts.check_rubric.schema import check_rubric_schema
from steelyard.errors import SettingError
from steelyard.formats.lines import Lines, Located
from steelyard.formats.problem import Problem, path_order
from steelyard.formats.schema import Schema, spoken
from steelyard.model.finding import Finding
from steelyard.model.json_value import JsonObject, JsonValue, Path, path_text
from steelyard.model.rubric import PASS_THRESHOLD, Combine, Rubric, RubricCheck

CONTRACT = "check_rubric"
LATER_KINDS = (
    *("json_schema", "php_lint", "markdown_structure", "tool_usage", "format", "fact_match"),
    *("llm_judge", "composite", "contains_all", "starts_with", "ends_with", "is_json", "choice"),
    *("cost", "token_usage", "field_accuracy", "tool_trajectory", "command"),
)
"""Kinds that the contract knows and this version does not carry out yet."""
_HINTS: dict[Path, str] = {
    ("id",): "write small letters, digits and _, such as answer_quality",
    ("version",): 'write two or three numbers in quotes, such as "1.2.0"',
}


def read_check_rubric(
    content: Located, catalog: Catalog, sha256: str | None = None
) -> tuple[Rubric | None, list[Finding]]:
    """The rubric that a file holds, and what is wrong with it; None when it cannot be used."""
    value = content.value
    found = Schema(check_rubric_schema(catalog)).problems(value)
    problems = [_explained(problem, value) for problem in found]
    rubric = None
    if not any(problem.severity == "error" for problem in problems):
        rubric = _rubric(cast(JsonObject, value), catalog, problems, sha256)
    findings = [_finding(problem, content.lines) for problem in sorted(problems, key=path_order)]
    is_sound = not any(finding.is_error for finding in findings)
    return rubric if is_sound else None, findings


def exact_version(version: str) -> str:
    """A version with all three numbers: `1.2` means exactly `1.2.0`."""
    main = re.split(r"[-+]", version, maxsplit=1)[0]
    filled = main + ".0" if main.count(".") == 1 else main
    return filled + version[len(main) :]


def _rubric(
    row: JsonObject, catalog: Catalog, problems: list[Problem], sha256: str | None
) -> Rubric:
    scoring = cast(JsonObject, row["scoring"])
    threshold = cast(float, scoring.get("pass_threshold", PASS_THRESHOLD))
    checks: list[RubricCheck] = []
    seen: set[JsonValue] = set()
    for index, entry in enumerate(cast(list[JsonObject], row["checks"])):
        if entry["id"] in seen:
            message = f"{{}} '{entry['id']}' is used by an earlier check"
            path = ("checks", index, "id")
            problems.append(Problem(code="duplicate_record_id", message=message, path=path))
        seen.add(entry["id"])
        made = _check(entry, index, catalog, problems)
        if made:
            checks.append(made)
    return Rubric(
        id=cast(str, row["id"]),
        version=exact_version(cast(str, row["version"])),
        checks=tuple(checks),
        combine=cast(Combine, scoring["combine"]),
        pass_threshold=float(threshold),
        sha256=sha256,
    )


def _check(
    entry: JsonObject, index: int, catalog: Catalog, problems: list[Problem]
) -> RubricCheck | None:
    kind = cast(str, entry["kind"])
    known = cast(JsonObject, catalog.fragment(kind)["properties"])
    settings = {name: value for name, value in entry.items() if name in known}
    try:
        check = catalog.make(kind, settings)
    except SettingError as wrong:
        path = ("checks", index, wrong.name)
        problems.append(Problem(code="value_out_of_range", message=f"{{}}: {wrong}", path=path))
        return None
    return RubricCheck(
        id=cast(str, entry["id"]),
        check=check,
        weight=float(cast(float, entry.get("weight", 1.0))),
        required=cast(bool, entry.get("required", False)),
        negate=cast(bool, entry.get("negate", False)),
    )


def _explained(problem: Problem, value: JsonValue) -> Problem:
    """The problem with a hint, where a pattern or a list of kinds does not say enough."""
    if problem.code in {"invalid_field_type", "value_out_of_range"} and problem.path in _HINTS:
        return replace(problem, hint=_HINTS[problem.path])
    if problem.code == "invalid_enum_value" and problem.path[-1] == "kind":
        kind = cast(Any, value)["checks"][problem.path[1]]["kind"]
        if kind in LATER_KINDS:
            return replace(problem, hint=f"this version does not carry out {kind} yet")
    return problem


def _finding(problem: Problem, lines: Lines) -> Finding:
    return Finding(
        severity=problem.severity,
        code=problem.code,
        message=spoken(problem),
        path=path_text(problem.path),
        line=lines.at(problem.path),
        hint=problem.hint,
    )
