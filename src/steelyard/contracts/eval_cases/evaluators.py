"""Evaluator entries of eval files to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from steelyard.checks.field_accuracy import FieldAccuracy
from steelyard.checks.json_schema import JsonSchema
from steelyard.checks.regex import pattern_fault
from steelyard.checks.setting_rules import arguments_of
from steelyard.contracts.eval_cases.prompts import RESULTS, VARIABLES, prompt_problems
from steelyard.contracts.eval_cases.spelling import (
    AGGREGATOR,
    EVALUATORS,
    RUBRIC_TEXT,
    SETTINGS,
    canonical_type,
    respelt,
    text_of,
    written,
)
from steelyard.errors import SettingError
from steelyard.formats.json_fields import (
    fields,
    flag_field,
    items,
    number_field,
    object_field,
    optional_text,
    text_field,
)
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem
from steelyard.judging.score_ranges import read_ranges
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.ports import FileFault, Files

# Under which names a type of evaluator takes rubrics and members; elsewhere they are settings.
_RUBRICS = {"llm_judge": ("rubrics",), "rubric": ("rubrics", "criteria")}
_MEMBERS = {"composite": EVALUATORS}
_PROMPTED = {"llm_judge", "rubric"}
_MADE_OF_MORE = {*_RUBRICS, *_MEMBERS, *_PROMPTED}
_PROMPT_ENDINGS = (".md", ".txt", ".j2")
FILE_SCHEME = "file://"


class EvaluatorBuilder:
    """Builds evaluators; what is wrong with the things they name is collected in `problems`."""

    def __init__(self, files: Files, problems: list[Problem], *, is_later: bool = False) -> None:
        self._files = files
        self._problems = problems
        self._is_later = is_later
        """Whether the file lists its cases under `tests`, where a default is another."""

    def evaluators(self, entries: list[JsonValue], path: Path) -> tuple[Evaluator, ...]:
        """A list of entries; texts among them become one rubric at the first one's place."""
        texts: list[JsonValue] = [entry for entry in entries if isinstance(entry, str)]
        built: list[Evaluator] = []
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                built.append(self._evaluator(entry, (*path, index)))
            elif texts:
                built.append(rubric(rubric_items(texts), weight=float(len(texts))))
                texts = []
        return tuple(built)

    def _evaluator(self, entry: JsonObject, path: Path) -> Evaluator:
        kind = canonical_type(text_field(entry, "type"))
        settings = {k: v for k, v in entry.items() if k not in {"name", "type", "weight"}}
        if kind in SETTINGS:
            settings = respelt(settings, SETTINGS[kind])
        if self._is_later and kind == "tool_trajectory" and settings.get("mode") != "any_order":
            settings = {"args_match": "exact", **settings}
        if kind not in _MADE_OF_MORE:
            if kind in _TRIED:
                self._problems.extend(_unmakable(kind, settings, path))
            return _evaluator(entry, kind, settings)
        return self._composed(entry, kind, settings, path)

    def _composed(
        self, entry: JsonObject, kind: str, settings: JsonObject, path: Path
    ) -> Evaluator:
        """An evaluator that has a prompt, statements or members."""
        listed_as, rubrics = _taken(settings, _RUBRICS.get(kind, ()))
        self._problems.extend(range_problems(rubrics, (*path, listed_as)))
        name, listed = _taken(settings, _MEMBERS.get(kind, ()))
        members = self.evaluators(listed, (*path, name))
        if kind == "composite":
            aggregator = _aggregator(object_field(settings, "aggregator"))
            settings["aggregator"] = aggregator
            self._check_weights(aggregator, members, (*path, "aggregator", "weights"))
            joined_by = text_field(aggregator, "type")
            at = (*path, "aggregator")
            prompt, prompt_path = self._prompt(joined_by, aggregator, at, (*VARIABLES, RESULTS))
        else:
            prompt, prompt_path = self._prompt(kind, settings, path, VARIABLES)
        return replace(
            _evaluator(entry, kind, settings),
            prompt=prompt,
            prompt_path=prompt_path,
            rubrics=rubric_items(rubrics),
            members=members,
        )

    def _prompt(
        self, kind: str, settings: JsonObject, path: Path, known: tuple[str, ...]
    ) -> tuple[str | None, str | None]:
        """The prompt's text and, for a file, its path."""
        prompt = optional_text(settings, "prompt") if kind in _PROMPTED else None
        if prompt is None:
            return None, None
        text, found_at = prompt, None
        if _names_a_file(prompt):
            found = self._files.read(prompt.removeprefix(FILE_SCHEME))
            if isinstance(found, FileFault):
                self._problems.append(fault_problem(found, (*path, "prompt")))
                return None, None
            text, found_at = found.text, found.path
        self._problems.extend(prompt_problems(text, known, (*path, "prompt")))
        return text, found_at

    def _check_weights(
        self, aggregator: JsonObject, members: tuple[Evaluator, ...], path: Path
    ) -> None:
        """A weight under a misspelt name would leave its member at 1."""
        known = [member.name for member in members]
        for name in object_field(aggregator, "weights"):
            if name not in known:
                self._problems.append(
                    Problem(
                        code="unknown_field",
                        message=f"{{}} names no member; members: {', '.join(known)}",
                        path=(*path, name),
                        hint=did_you_mean(name, known),
                        severity="warning",
                    )
                )


def _evaluator(entry: JsonObject, kind: str, settings: JsonObject) -> Evaluator:
    return Evaluator(
        name=text_field(entry, "name", kind),
        type=kind,
        weight=float(number_field(entry, "weight", 1.0)),
        settings=settings,
    )


def rubric(items: tuple[RubricItem, ...], *, weight: float = 1.0) -> Evaluator:
    """The evaluator that statements without one of their own stand for."""
    return Evaluator(name="rubric", type="rubric", weight=weight, rubrics=items)


def rubric_items(entries: list[JsonValue]) -> tuple[RubricItem, ...]:
    """Rubric entries, whose ids default to their position."""
    return tuple(_rubric_item(entry, index) for index, entry in enumerate(entries, start=1))


def _rubric_item(entry: JsonValue, position: int) -> RubricItem:
    if isinstance(entry, str):
        return RubricItem(id=f"rubric-{position}", description=entry)
    item = fields(entry)
    named = {"id", "weight", "required", *RUBRIC_TEXT}
    name = text_field(item, "id", f"rubric-{position}")
    return RubricItem(
        id=name,
        # What the points mean says enough; such an item is called by its id.
        description=text_of(item, RUBRIC_TEXT) or name.replace("_", " "),
        weight=float(number_field(item, "weight", 1.0)),
        required=flag_field(item, "required", default=True),
        extra={name: value for name, value in item.items() if name not in named},
    )


def range_problems(entries: list[JsonValue], path: Path) -> Iterator[Problem]:
    """Points of a rubric item whose ranges cannot be meant; without them it would be another."""
    for index, entry in enumerate(entries):
        ranges = entry.get("score_ranges") if isinstance(entry, dict) else None
        try:
            if ranges:
                read_ranges(ranges)
        except SettingError as wrong:
            place = (*path, index, "score_ranges")
            message = str(wrong).replace("score_ranges", "{}", 1)
            yield Problem(code="value_out_of_range", message=message, path=place)


def _unmakable(kind: str, settings: JsonObject, path: Path) -> Iterator[Problem]:
    """A setting of the right shape of which no check can be made."""
    if kind not in _TRIED:
        return
    name, wrong_with = _TRIED[kind]
    wrong = wrong_with(settings)
    if wrong:
        yield Problem(code="value_out_of_range", message=f"{{}}: {wrong}", path=(*path, name))


def _wrong_pattern(settings: JsonObject) -> str | None:
    flags = text_field(settings, "flags", "")
    return pattern_fault(text_field(settings, "value"), flags)


def _wrong_fields(settings: JsonObject) -> str | None:
    try:
        arguments_of(FieldAccuracy, {"fields": settings["fields"]})
    except SettingError as wrong:
        return str(wrong)
    return None


def _wrong_schema(settings: JsonObject) -> str | None:
    try:
        JsonSchema(schema=object_field(settings, "schema"))
    except SettingError as wrong:
        return str(wrong)
    return None


_TRIED: dict[str, tuple[str, Callable[[JsonObject], str | None]]] = {
    "regex": ("value", _wrong_pattern),
    "json_schema": ("schema", _wrong_schema),
    "field_accuracy": ("fields", _wrong_fields),
}
"""Types with a setting that only making the check tells to be wrong, and which setting it is."""


def fault_problem(fault: FileFault, path: Path) -> Problem:
    """A file that a row names and that cannot be had."""
    return Problem(code=fault.code, message=f"{{}}: {fault.message}", path=path, hint=fault.hint)


def _aggregator(entry: JsonObject) -> JsonObject:
    return {**respelt(entry, AGGREGATOR), "type": canonical_type(text_field(entry, "type"))}


def _taken(settings: JsonObject, names: tuple[str, ...]) -> tuple[str, list[JsonValue]]:
    """A list taken out of the settings, and the name under which it stood."""
    name = written(settings, names)
    return (name, items(settings.pop(name))) if name else ("", [])


def _names_a_file(prompt: str) -> bool:
    if prompt.startswith(FILE_SCHEME):
        return True
    return "\n" not in prompt and prompt.endswith(_PROMPT_ENDINGS)
