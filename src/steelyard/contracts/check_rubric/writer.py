"""Writes a check rubric; what was read comes back unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, is_dataclass
from typing import Any, cast

from steelyard.checks.setting_rules import settings_of
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.rubric import (
    PASS_THRESHOLD,
    Check,
    JudgedCheck,
    Rubric,
    RubricCheck,
    StatedCheck,
)


def rubric_row(rubric: Rubric) -> JsonObject:
    """A rubric with its fields in the usual order; what has its default is left out."""
    row: JsonObject = {"id": rubric.id, "version": rubric.version}
    if rubric.description:
        row["description"] = rubric.description
    row["checks"] = [_check_row(entry) for entry in rubric.checks]
    scoring: JsonObject = {"combine": rubric.combine}
    if rubric.pass_threshold != PASS_THRESHOLD:
        scoring["pass_threshold"] = rubric.pass_threshold
    return {**row, "scoring": scoring, **rubric.extra}


def _check_row(entry: RubricCheck) -> JsonObject:
    row: JsonObject = {"id": entry.id, "kind": entry.check.kind}
    row.update(_settings(entry.check))
    if entry.weight != 1.0:
        row["weight"] = entry.weight
    if entry.required:
        row["required"] = True
    if entry.negate:
        row["negate"] = True
    return {**row, **entry.extra}


def _settings(check: Check | JudgedCheck | StatedCheck) -> JsonObject:
    if isinstance(check, StatedCheck):
        return dict(check.settings)
    return _differing(check)


def _differing(made: Any) -> JsonObject:
    """The settings that differ from their defaults."""
    settings: JsonObject = {}
    for field, _ in settings_of(made.__class__):
        value = getattr(made, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if value != default:
            settings[field.name] = _thawed(value)
    return settings


def _thawed(value: Any) -> JsonValue:
    """A setting as it is written in files."""
    if isinstance(value, list | tuple):
        return [_thawed(item) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {name: _thawed(item) for name, item in cast("Mapping[str, Any]", value).items()}
    return _differing(value) if is_dataclass(value) else value
