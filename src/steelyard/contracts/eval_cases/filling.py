"""Fills in the values that later eval files leave open: `${{ NAME }}` and `{{ name }}`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from steelyard.contracts.eval_cases.evaluators import fault_problem
from steelyard.contracts.eval_cases.spelling import (
    EVALUATORS,
    GOAL,
    INPUT,
    REFERENCE,
    listed_evaluators,
    written,
)
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.ports import FileFault, Files

_VARIABLE = re.compile(r"\$\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_NAME = re.compile(r"(?<!\$)\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_WORDS: dict[str, JsonValue] = {"true": True, "false": False}
_FILLED = (*GOAL, *INPUT, *REFERENCE, "input_files")
_NOTES = ("description", "notes")
_EXECUTION = "execution"
_NO_VALUE = "{{}}"
"""What no name stands for."""
_EXECUTED = ("target", *EVALUATORS)
Fill: TypeAlias = Callable[[str, Path], JsonValue]


def with_variables(value: JsonValue, files: Files, problems: list[Problem]) -> JsonValue:
    """A row or header with the variables of the environment that its texts name.

    Those that may not be shown stay as they are, and are in `problems` afterwards. Notes for
    people and options that are not looked at are left alone.
    """
    if not isinstance(value, dict):
        return value
    fill = _Environment(files, problems).fill
    filled = {
        key: item if key in (*_NOTES, _EXECUTION) else _filled(item, fill, (key,))
        for key, item in value.items()
    }
    execution = value.get(_EXECUTION)
    if isinstance(execution, dict):
        filled[_EXECUTION] = {
            key: _filled(item, fill, (_EXECUTION, key)) if key in _EXECUTED else item
            for key, item in execution.items()
        }
    return filled


class _Environment:
    """The variables that one eval file may show."""

    def __init__(self, files: Files, problems: list[Problem]) -> None:
        self._files = files
        self._problems = problems

    def fill(self, text: str, path: Path) -> JsonValue:
        """The text with its variables; one that is nothing else may read like a number."""
        whole = _VARIABLE.fullmatch(text)
        if whole:
            return _read(self._shown(whole[1], path, text))
        return _VARIABLE.sub(lambda tag: self._shown(tag[1], path, tag[0]), text)

    def _shown(self, name: str, path: Path, otherwise: str) -> str:
        found = self._files.variable(name)
        if isinstance(found, FileFault):
            self._problems.append(fault_problem(found, path))
            return otherwise
        return found


def with_vars(row: JsonObject, values: JsonObject, problems: list[Problem]) -> JsonObject:
    """A row with the values that the names in its texts stand for.

    Names without a value, and names in evaluators, which are not filled, are in `problems`.
    """
    if not values:
        return row
    problems.extend(left_in_evaluators(row, values))
    return {
        key: with_values(item, values, problems, (key,)) if key in _FILLED else item
        for key, item in row.items()
    }


def with_prompt(row: JsonObject, prompt: str | None, values: JsonObject) -> JsonObject:
    """A row that asks what its file's prompt says, unless it has an input of its own.

    Files with a prompt keep the reference among the values, too. A row without the value that is
    its whole input has none.
    """
    if prompt is None:
        return row
    asked, made = _NAME.fullmatch(prompt.strip()), dict(row)
    if not written(row, INPUT) and not (
        asked and _value(values, asked[1], _NO_VALUE) == _NO_VALUE
    ):
        made["input"] = prompt.strip() if asked else prompt
    if not written(row, REFERENCE) and "expected_output" in values:
        made["expected_output"] = "{{ expected_output }}"
    return made


def with_values(
    value: JsonValue, values: JsonObject, problems: list[Problem], at: Path
) -> JsonValue:
    """A value with what `{{ name }}` stands for; names without a value stay as they are.

    A text that is nothing but a name becomes the value itself.
    """

    def fill(text: str, path: Path) -> JsonValue:
        problems.extend(_unfilled(text, values, path))
        whole = _NAME.fullmatch(text)
        if whole:
            return _value(values, whole[1], text)
        return _NAME.sub(lambda tag: _text(_value(values, tag[1], tag[0])), text)

    return _filled(value, fill, at) if values else value


def left_in_evaluators(row: JsonObject, values: JsonObject) -> Iterator[Problem]:
    """The names in evaluators that have a value; prompts have names of their own."""
    listed = listed_evaluators(row)
    for text, path in _texts(listed[1], listed[0]) if listed else ():
        known = [name for name in _NAME.findall(text) if name.partition(".")[0] in values]
        for name in dict.fromkeys(known) if path[-1] != "prompt" else ():
            yield Problem(
                code="unknown_field",
                message=f"{{}} shows '{name}'; 'vars' are not filled into evaluators",
                path=path,
                hint="write the value itself",
                severity="warning",
            )


def _unfilled(text: str, values: JsonObject, path: Path) -> Iterator[Problem]:
    """The names of a text for which there is no value."""
    for name in dict.fromkeys(_NAME.findall(text)):
        if _value(values, name, _NO_VALUE) is _NO_VALUE:
            yield Problem(
                code="unknown_field",
                message=f"{{}} shows '{name}', for which 'vars' has no value",
                path=path,
                hint=did_you_mean(name, values) or f"'vars' has {', '.join(values)}",
                severity="warning",
            )


def _texts(value: JsonValue, path: Path) -> Iterator[tuple[str, Path]]:
    if isinstance(value, str):
        yield value, path
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, (*path, index))
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, (*path, name))


def _filled(value: JsonValue, fill: Fill, path: Path) -> JsonValue:
    if isinstance(value, str):
        return fill(value, path) if "{{" in value else value
    if isinstance(value, list):
        return [_filled(item, fill, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _filled(item, fill, (*path, key)) for key, item in value.items()}
    return value


def _read(text: str) -> JsonValue:
    if _NUMBER.fullmatch(text):
        return cast(JsonValue, json.loads(text))
    return _WORDS.get(text, text)


def _value(values: JsonObject, name: str, otherwise: str) -> JsonValue:
    """What a name such as `person.name` stands for."""
    place: JsonValue = values
    for part in name.split("."):
        if not isinstance(place, dict) or part not in place:
            return otherwise
        place = place[part]
    return place


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
