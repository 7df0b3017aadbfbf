"""Evaluator entries of eval files to the model."""

from __future__ import annotations

from typing import cast

from steelyard.contracts.eval_cases.spelling import (
    EVALUATORS,
    RUBRIC_TEXT,
    canonical_type,
    value_of,
    written,
)
from steelyard.formats.problem import Problem
from steelyard.model.evaluator import Evaluator, RubricItem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.ports import FileFault, Files

_PROMPT_ENDINGS = (".md", ".txt", ".j2")
_FILE_SCHEME = "file://"


class EvaluatorBuilder:
    """Builds evaluators; what is wrong with the files they name is collected in `problems`."""

    def __init__(self, files: Files, problems: list[Problem]) -> None:
        self._files = files
        self._problems = problems

    def evaluators(self, entries: list[JsonValue], path: Path) -> tuple[Evaluator, ...]:
        """A list of entries; texts among them become one rubric at the first one's place."""
        texts = [entry for entry in entries if isinstance(entry, str)]
        built: list[Evaluator] = []
        for index, entry in enumerate(entries):
            if isinstance(entry, dict):
                built.append(self._evaluator(entry, (*path, index)))
            elif entry is texts[0]:
                items = rubric_items(cast(list[JsonValue], texts))
                weight = float(len(texts))
                built.append(Evaluator(name="rubric", type="rubric", weight=weight, rubrics=items))
        return tuple(built)

    def _evaluator(self, entry: JsonObject, path: Path) -> Evaluator:
        kind = canonical_type(cast(str, entry["type"]))
        settings = {k: v for k, v in entry.items() if k not in {"name", "type", "weight"}}
        rubrics_name = written(
            settings, ("rubrics", "criteria") if kind == "rubric" else ("rubrics",)
        )
        rubrics = cast(list[JsonValue], settings.pop(rubrics_name)) if rubrics_name else []
        members_name = written(settings, EVALUATORS) if kind == "composite" else None
        members: tuple[Evaluator, ...] = ()
        if members_name:
            listed = cast(list[JsonValue], settings.pop(members_name))
            members = self.evaluators(listed, (*path, members_name))
        prompt, prompt_path = self._prompt(settings, path)
        return Evaluator(
            name=cast(str, entry.get("name", kind)),
            type=kind,
            weight=float(cast(float, entry.get("weight", 1.0))),
            prompt=prompt,
            prompt_path=prompt_path,
            rubrics=rubric_items(rubrics),
            members=members,
            settings=settings,
        )

    def _prompt(self, settings: JsonObject, path: Path) -> tuple[str | None, str | None]:
        """The prompt's text and, for a file, its path; a composite's is its aggregator's."""
        holder, place = settings, path
        aggregator = settings.get("aggregator")
        if isinstance(aggregator, dict):
            holder, place = aggregator, (*path, "aggregator")
        prompt = holder.get("prompt")
        if not isinstance(prompt, str):
            return None, None
        if not _names_a_file(prompt):
            return prompt, None
        found = self._files.read(prompt.removeprefix(_FILE_SCHEME))
        if isinstance(found, FileFault):
            self._problems.append(fault_problem(found, (*place, "prompt")))
            return None, None
        return found.text, found.path


def rubric_items(entries: list[JsonValue]) -> tuple[RubricItem, ...]:
    """Rubric entries, whose ids default to their position."""
    return tuple(_rubric_item(entry, index) for index, entry in enumerate(entries, start=1))


def _rubric_item(entry: JsonValue, position: int) -> RubricItem:
    if isinstance(entry, str):
        return RubricItem(id=f"rubric-{position}", description=entry)
    item = cast(JsonObject, entry)
    named = {"id", "weight", "required", *RUBRIC_TEXT}
    return RubricItem(
        id=cast(str, item.get("id", f"rubric-{position}")),
        description=cast(str, value_of(item, RUBRIC_TEXT)),
        weight=float(cast(float, item.get("weight", 1.0))),
        required=cast(bool, item.get("required", True)),
        extra={name: value for name, value in item.items() if name not in named},
    )


def fault_problem(fault: FileFault, path: Path) -> Problem:
    """A file that a row names and that cannot be had."""
    return Problem(code=fault.code, message=f"{{}}: {fault.message}", path=path, hint=fault.hint)


def _names_a_file(prompt: str) -> bool:
    if prompt.startswith(_FILE_SCHEME):
        return True
    return "\n" not in prompt and prompt.endswith(_PROMPT_ENDINGS)
