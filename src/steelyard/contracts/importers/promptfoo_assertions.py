"""Assertions of promptfoo to evaluators of eval cases."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.formats.json_fields import text_field
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue

Render = Callable[[str], str]
_TEXT = ("equals", "contains", "icontains", "starts-with", "regex")
_TEXTS = ("contains-any", "contains-all", "icontains-any", "icontains-all")
_SETTINGS = {"type", "value", "threshold", "weight", "metric"}


def evaluators_of(
    entries: list[JsonValue], render: Render, *, all_must_pass: bool
) -> tuple[list[JsonObject], list[Change]]:
    """The evaluators that assertions stand for, and what of them did not come over."""
    made: list[JsonObject] = []
    changes: list[Change] = []
    for entry in entries:
        kind = str(entry.get("type")) if isinstance(entry, dict) else "assertion"
        try:
            evaluator, ignored = _evaluator(entry, render)
        except ParseError as why:
            changes.append(Change(f"assert: {kind}", str(why)))
            continue
        if all_must_pass and evaluator.get("weight") != 0:
            evaluator["required"] = True
        made.append(evaluator)
        changes += [
            Change(f"assert.{name}", "no evaluator has a setting for it") for name in ignored
        ]
    return made, changes


def _evaluator(entry: JsonValue, render: Render) -> tuple[JsonObject, list[str]]:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise wrong("an assertion must be an object with a type")
    written = text_field(entry, "type")
    kind = written.removeprefix("not-")
    evaluator: JsonObject = {"type": kind, **_settings(kind, entry, render)}
    if kind == "llm-rubric":
        evaluator["type"] = "llm_judge"
    if isinstance(entry.get("metric"), str) and entry["metric"]:
        evaluator = {"name": render(text_field(entry, "metric")), **evaluator}
    weight = entry.get("weight")
    if isinstance(weight, int | float) and not isinstance(weight, bool):
        evaluator["weight"] = weight
    if written != kind:
        evaluator["negate"] = True
    return evaluator, [name for name in entry if name not in _SETTINGS]


def _settings(kind: str, entry: JsonObject, render: Render) -> JsonObject:
    value = entry.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        raise wrong(f"its value is in a file: {value}")
    if kind in _TEXT:
        return {"value": _one(value, render)}
    if kind in _TEXTS:
        listed = value.split(",") if isinstance(value, str) else value
        if not isinstance(listed, list) or not listed:
            raise wrong("its value must be a list of texts")
        return {"value": [_one(item, render).strip() for item in listed]}
    if kind == "llm-rubric":
        settings: JsonObject = {"value": _one(value, render)}
        threshold = entry.get("threshold")
        return settings if threshold is None else {**settings, "threshold": threshold}
    if kind == "is-json":
        if value is not None:
            raise wrong("a schema cannot be carried over; use a json_schema check")
        return {}
    if kind in {"latency", "cost"}:
        return {"threshold" if kind == "latency" else "budget": _number(entry)}
    raise wrong("no evaluator stands for it")


def _one(value: JsonValue, render: Render) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise wrong("its value must be a text")
    return render(value) if isinstance(value, str) else str(value)


def _number(entry: JsonObject) -> float:
    threshold = entry.get("threshold")
    if isinstance(threshold, bool) or not isinstance(threshold, int | float):
        raise wrong("its threshold must be a number")
    return threshold
