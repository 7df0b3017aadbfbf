"""The inline checks of an eval: to evaluators, and back to fields."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.formats.json_fields import object_field
from steelyard.model.case import Case
from steelyard.model.evaluator import Evaluator
from steelyard.model.json_value import JsonObject, JsonValue

PHRASES = ("must_contain_any", "must_not_contain")
LINT = "check_php_lint"
MARKDOWN = "check_markdown_structure"
KINDS = (*PHRASES, "php_lint", "markdown_structure")
_DEMANDS = (
    *("min_headings", "max_heading_level", "no_h1", "required_sections", "forbidden_patterns"),
    *("min_code_blocks", "min_paragraphs"),
)


def evaluators(row: JsonObject) -> Iterator[Evaluator]:
    """One evaluator for each inline check that demands something; all are required."""
    for kind in PHRASES:
        if row.get(kind):
            yield _evaluator(kind, {"phrases": row[kind]})
    if row.get(LINT):
        yield _evaluator("php_lint", {})
    if MARKDOWN in row:
        stated = object_field(row, MARKDOWN)
        demands = {name: stated[name] for name in stated if name in _DEMANDS}
        demands = {name: value for name, value in demands.items() if _is_demand(value)}
        if demands:
            yield _evaluator("markdown_structure", demands)


def further_demands(row: JsonObject) -> JsonObject:
    """What the check of Markdown carries that no check knows."""
    if MARKDOWN not in row:
        return {}
    stated = object_field(row, MARKDOWN)
    return {name: stated[name] for name in stated if name not in _DEMANDS}


def inline_checks(case: Case) -> JsonObject:
    """The fields of an eval that its evaluators stand for."""
    fields: JsonObject = {}
    for evaluator in _inline(case):
        settings = _settings(evaluator)
        if evaluator.type in PHRASES:
            fields[evaluator.type] = settings["phrases"]
        elif evaluator.type == "php_lint":
            fields[LINT] = True
        else:
            fields[MARKDOWN] = settings
    return fields


def _inline(case: Case) -> Iterator[Evaluator]:
    """The evaluators that stand for inline checks; statements are written as they were."""
    return (evaluator for evaluator in case.evaluators if evaluator.type in KINDS)


def _evaluator(kind: str, settings: JsonObject) -> Evaluator:
    settings["required"] = True
    return Evaluator(name=kind, type=kind, settings=settings)


def _settings(evaluator: Evaluator) -> JsonObject:
    return {name: value for name, value in evaluator.settings.items() if name != "required"}


def _is_demand(value: JsonValue) -> bool:
    return value is not False and value != []
