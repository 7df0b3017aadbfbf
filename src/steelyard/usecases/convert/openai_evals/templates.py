"""The templates of model-graded evals, as judges of eval cases."""

from __future__ import annotations

from string import Formatter
from typing import NamedTuple

from steelyard.contracts.importers.conversation import as_object, as_objects, as_text
from steelyard.contracts.importers.openai_messages import text_of
from steelyard.contracts.importers.source_row import wrong
from steelyard.model.json_value import JsonObject, JsonValue

_ANSWER = "{{ candidate_answer }}"
_SPEAKERS = {"system": "", "example_user": "User: ", "example_assistant": "Assistant: "}
_COUNTED = {"from_n", "from_n_abc", "from_n_ABC"}


class Template(NamedTuple):
    """A template with the choices of a judge and what each of them scores."""

    name: str
    prompt: str
    asked: str
    """The field of a sample that the target is asked with."""
    answered: str
    """The name under which the prompt shows the answer."""
    scores: dict[str, float]
    """By choice; empty where the template gives no score."""


def read_template(name: str, spec: JsonObject) -> Template:
    """The template of an entry of `modelgraded`; raises ParseError with what cannot be kept."""
    pairs = as_object(spec.get("input_outputs"))
    choices = spec.get("choice_strings")
    is_counted = isinstance(choices, str) and choices in _COUNTED
    if len(pairs) != 1 or spec.get("output_template") or is_counted:
        raise wrong(f"the template '{name}' compares several answers, and a case has one")
    ((asked, answered),) = pairs.items()
    prompt = spec.get("prompt")
    text = prompt if isinstance(prompt, str) else _conversation(prompt)
    if answered not in _names(text):
        raise wrong(f"the template '{name}' does not show the answer")
    return Template(name, text, asked, str(answered), _scores(choices, spec.get("choice_scores")))


def judge(template: Template, sample: JsonObject, args: JsonObject) -> JsonObject:
    """The judge of one sample: the prompt with all filled in but the answer."""
    values: JsonObject = {**sample, **args}
    lowest, highest = min(template.scores.values()), max(template.scores.values())
    if lowest == highest:
        raise wrong(f"all choices of the template '{template.name}' score the same")
    listed = "\n".join(
        f"- {choice}: {(score - lowest) / (highest - lowest):.4g}"
        for choice, score in template.scores.items()
    )
    prompt = f"{_filled(template, values)}\n\nThe score of each choice:\n{listed}"
    return {"name": template.name, "type": "llm_judge", "prompt": prompt}


def is_rescaled(template: Template) -> bool:
    """Whether its scores lie outside of 0 to 1 or do not span it."""
    return (min(template.scores.values()), max(template.scores.values())) != (0, 1)


def _scores(choices: JsonValue, scores: JsonValue) -> dict[str, float]:
    listed = [str(choice) for choice in choices] if isinstance(choices, str | list) else []
    if scores == "from_strings":
        try:
            return {choice: float(choice) for choice in listed}
        except ValueError:
            raise wrong("choice_scores 'from_strings' needs numbers as choices") from None
    given = as_object(scores)
    numbers = {
        name: float(value)
        for name, value in given.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if given and {*listed} - {*numbers}:
        raise wrong("choice_scores must give every choice a number")
    return {choice: numbers[choice] for choice in listed} if given else {}


def _names(prompt: str) -> set[str]:
    try:
        return {name for _, name, _, _ in Formatter().parse(prompt) if name}
    except ValueError as error:
        raise wrong(f"the prompt of the template cannot be filled in: {error}") from None


def _filled(template: Template, values: JsonObject) -> str:
    parts: list[str] = []
    for text, name, _, _ in Formatter().parse(template.prompt):
        # Double braces in what is filled in would read as names of the judge's prompt.
        parts.append(text.replace("{{", "{ {"))
        if name == template.answered:
            parts.append(_ANSWER)
        elif name:
            if name not in values:
                raise wrong(f"the template '{template.name}' shows '{name}', which is not there")
            parts.append(_shown(values[name]).replace("{{", "{ {"))
    return "".join(parts)


def _shown(value: JsonValue) -> str:
    """A value as the template shows it: messages with who speaks, anything else as it prints."""
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        return _conversation(value)
    return str(value)


def _conversation(messages: JsonValue) -> str:
    listed = as_objects(messages)
    contents = [text_of(message.get("content")) for message in listed]
    if len(contents) == 1:
        return contents[0]
    speakers = [as_text(one.get("name")) or str(one.get("role")) for one in listed]
    lines = [
        f"{_SPEAKERS.get(speaker, f'{speaker.capitalize()}: ')}{content}\n"
        for speaker, content in zip(speakers, contents, strict=True)
    ]
    return "".join(lines).lstrip()
