"""Assertions that a model decides, as judges of eval cases."""

from __future__ import annotations

import json

from steelyard.contracts.importers.source_row import wrong
from steelyard.errors import ParseError
from steelyard.model.conversion import Change
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.usecases.convert.promptfoo.context import AssertionContext
from steelyard.usecases.convert.promptfoo.prompts import conversation
from steelyard.usecases.convert.promptfoo.source import ConfigPlace, is_file, listed
from steelyard.usecases.convert.promptfoo.templates import rendered

JUDGED = (
    *("llm-rubric", "model-graded-closedqa", "g-eval", "similar"),
    *("factuality", "model-graded-factuality"),
)
_SIMILAR = "The answer means the same as this text: "
_EMBEDDED = (
    "promptfoo compares embeddings; a judge decides instead whether the answer means the same, "
    "and the threshold is not used"
)
_PROMPTED = "the judge gets the rubric prompt, and replies in the form of Steelyard"


def judged(
    kind: str,
    entry: JsonObject,
    grading: AssertionContext,
    place: ConfigPlace,
    changes: list[Change],
) -> JsonObject:
    """The judge of an assertion; what it decides differently is said."""
    provider = entry.get("provider", grading.options.get("provider"))
    made: JsonObject = {"name": kind, "type": "llm_judge"}
    if provider and kind != "similar":
        made.update(asked(provider, grading, place, changes))
    prompt = entry.get("rubricPrompt", grading.options.get("rubricPrompt"))
    says_all = bool(prompt) and kind == "llm-rubric" and entry.get("value") is None
    texts = [""] if says_all else _texts(entry.get("value"), grading)
    threshold = entry.get("threshold")
    if kind == "similar":
        changes.append(place.replaced(_EMBEDDED))
        either = "\n".join(f"- {text}" for text in texts)
        one = f"{_SIMILAR}{texts[0]}"
        return {**made, "value": one if len(texts) == 1 else f"{_SIMILAR}one of these\n{either}"}
    if "factuality" in kind:
        if prompt or grading.options.get("factuality"):
            raise wrong("a rubricPrompt or scores of its own have no counterpart")
        items: list[JsonValue] = [{"description": texts[0], "operator": "contradiction"}]
        return {**made, "rubrics": items}
    if isinstance(threshold, int | float) and not isinstance(threshold, bool):
        made["threshold"] = threshold
    if prompt:
        changes.append(place.replaced(_PROMPTED))
        return {**made, "prompt": _prompt(prompt, texts[0], grading)}
    if len(texts) > 1:
        return {**made, "rubrics": [*texts]}
    return {**made, "value": texts[0]}


def asked(
    provider: JsonValue, grading: AssertionContext, place: ConfigPlace, changes: list[Change]
) -> JsonObject:
    """The target of the judge; where there can be none, the project file names one."""
    try:
        return {"judge_target": grading.judge(provider)}
    except ParseError as why:
        how = f"{why}; the target under 'judges' in steelyard.yaml judges"
        changes.append(place.at("provider").replaced(how))
        return {}


def _texts(value: JsonValue, grading: AssertionContext) -> list[str]:
    """The statements of an assertion, filled in."""
    if is_file(value):
        value = grading.source.text(str(value))
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    texts = [grading.render(str(text)).strip() for text in listed(value)]
    if not texts or not all(texts):
        raise wrong("its value must be a text")
    return texts


def _prompt(prompt: JsonValue, rubric: str, grading: AssertionContext) -> str:
    """A rubric prompt with all filled in but the answer; a conversation is one text."""
    if is_file(prompt):
        prompt = grading.source.text(str(prompt))
    chat = conversation(prompt) if isinstance(prompt, str) else listed(prompt)
    if chat is not None:
        contents = [
            message.get("content") if isinstance(message, dict) else message for message in chat
        ]
        prompt = "\n\n".join(str(content) for content in contents)
    values: JsonObject = {**grading.values, "rubric": rubric, "output": "{{ output }}"}
    return rendered(str(prompt), values)
