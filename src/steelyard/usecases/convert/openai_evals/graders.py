"""The graders of an eval of the platform, as evaluators of eval cases."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text
from steelyard.contracts.importers.openai_messages import text_of
from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue

_SLOT = re.compile(r"\{\{\s*([A-Za-z_][\w.\-]*)\s*\}\}")
_ANSWERS = {"sample.output_text", "sample.output"}
_ANSWER = "{{ candidate_answer }}"
_REPLY = "the judge gets the grader's prompt, and replies in the form of Steelyard"


class MappedGraders(NamedTuple):
    """Evaluators, and what of the graders did not come over as it was."""

    evaluators: list[JsonObject]
    changes: list[Change]


def evaluators_of(definition: JsonObject, item: JsonObject) -> MappedGraders:
    """The evaluators of an item by the testing criteria of its eval."""
    made = MappedGraders([], [])
    for grader in as_objects(definition.get("testing_criteria")):
        kind = as_text(grader.get("type"), "grader")
        name = as_text(grader.get("name")) or kind
        try:
            evaluator = _evaluator(kind, grader, item)
        except ParseError as why:
            made.changes.append(Change(f"grader '{name}'", str(why)))
            continue
        made.evaluators.append({"name": name, **evaluator})
        if evaluator["type"] == "llm_judge":
            made.changes.append(Change(f"grader '{name}'", _REPLY, is_lost=False))
    return made


def _evaluator(kind: str, grader: JsonObject, item: JsonObject) -> JsonObject:
    maker = _MAKERS.get(kind)
    if maker is None:
        raise wrong(f"no evaluator stands for a {kind} grader")
    return maker(grader, item)


def _string_check(grader: JsonObject, item: JsonObject) -> JsonObject:
    given, expected = grader.get("input"), grader.get("reference")
    operation = as_text(grader.get("operation"))
    if operation in {"eq", "ne"} and _is_answer(expected):
        given, expected = expected, given
    if not _is_answer(given):
        raise wrong("it compares something else than the answer")
    text = re.escape(_filled(expected, item, ""))
    if operation in {"eq", "ne"}:
        made: JsonObject = {"type": "regex", "value": f"^{text}$"}
        return {**made, "negate": True} if operation == "ne" else made
    if operation in {"like", "ilike"}:
        made = {"type": "regex", "value": f"(?:{text})"}
        return {**made, "flags": "i"} if operation == "ilike" else made
    raise wrong(f"its operation '{operation}' is unknown")


def _label_model(grader: JsonObject, item: JsonObject) -> JsonObject:
    labels, passing = _texts(grader.get("labels")), _texts(grader.get("passing_labels"))
    if not labels or not passing:
        raise wrong("it has no labels, or none that passes")
    scores = "\n".join(f"- {label}: {int(label in passing)}" for label in labels)
    prompt = f"{_prompt(grader, item)}\n\nThe score of each label:\n{scores}"
    return {"type": "llm_judge", "prompt": prompt}


def _score_model(grader: JsonObject, item: JsonObject) -> JsonObject:
    low, high = _range(grader.get("range"))
    prompt = _prompt(grader, item)
    if (low, high) != (0, 1):
        prompt += f"\n\nThe score s from {low:g} to {high:g} is given as (s - {low:g}) / "
        prompt += f"{high - low:g}, which lies between 0 and 1."
    made: JsonObject = {"type": "llm_judge", "prompt": prompt}
    threshold = grader.get("pass_threshold")
    if isinstance(threshold, int | float) and not isinstance(threshold, bool):
        made["threshold"] = min(1.0, max(0.0, (threshold - low) / (high - low)))
    return made


_MAKERS: dict[str, Callable[[JsonObject, JsonObject], JsonObject]] = {
    "string_check": _string_check,
    "label_model": _label_model,
    "score_model": _score_model,
}


def _texts(value: JsonValue) -> list[str]:
    return [str(text) for text in value] if isinstance(value, list) else []


def _range(value: JsonValue) -> tuple[float, float]:
    match value:
        case None:
            return 0, 1
        case [int() | float() as low, int() | float() as high] if low < high:
            return low, high
        case _:
            raise wrong("its range must be two numbers, the smaller first")


def _prompt(grader: JsonObject, item: JsonObject) -> str:
    """The messages of a grader as one text that shows the answer."""
    contents = [_content(message) for message in as_objects(grader.get("input"))]
    text = "\n\n".join(_filled(content, item, _ANSWER) for content in contents)
    if _ANSWER not in text:
        raise wrong("its prompt does not show the answer")
    return text


def _content(message: JsonObject) -> str:
    content = message.get("content")
    return text_of([content] if isinstance(content, dict) else content)


def _is_answer(value: JsonValue) -> bool:
    found = _SLOT.fullmatch(value.strip()) if isinstance(value, str) else None
    return found is not None and found[1] in _ANSWERS


def _filled(value: JsonValue, item: JsonObject, answer: str) -> str:
    """A template with the fields of the item; what it shows of the answer is left to the judge."""
    if not isinstance(value, str):
        raise wrong("a template must be a text")

    def slot(found: re.Match[str]) -> str:
        name = found[1]
        if name in _ANSWERS and answer:
            return answer
        return _value(name, item).replace("{{", "{ {") if answer else _value(name, item)

    return _SLOT.sub(slot, value)


def _value(name: str, item: JsonObject) -> str:
    scope, *path = name.split(".")
    held: JsonValue = item
    for part in path:
        held = as_object(held).get(part)
    if scope != "item" or not path or held is None:
        raise wrong(f"it shows '{name}', which the item does not have")
    return text_of(held)
