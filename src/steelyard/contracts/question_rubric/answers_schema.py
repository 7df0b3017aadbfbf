"""A JSON Schema for the answers to a rubric, for a judge to follow.

It says with enumerations what it can, has no references and lists every turn by name, because
that is what the providers of models can enforce. What it cannot state, steps of a long scale
and clean text, `read_answers` checks.
"""

from __future__ import annotations

from typing import cast

from steelyard.contracts.question_rubric.answers import By, is_owed, is_taken
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Question, QuestionRubric, Scale

MOST_SCORES = 51
"""As many scores as are listed one by one; a longer scale is stated by its ends."""


def answers_schema(
    rubric: QuestionRubric, *, by: By = "judge", turns: int | None = None
) -> JsonObject:
    """What answers to a rubric must look like; without a number of turns, any turn may appear.

    A judge's schema has only the questions that judges answer; a person's has the comments too.
    """
    asked = [question for question in rubric.questions if _is_asked(question, by)]
    about_trace = [question for question in asked if question.scope == "trace"]
    about_turn = [question for question in asked if question.scope == "turn"]
    parts: dict[str, JsonObject] = {
        "trace": _part("The whole trace", about_trace, by),
        "turns": _turns(about_turn, by, turns),
    }
    owed: list[JsonValue] = [name for name, part in parts.items() if part.get("required")]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Answers to {rubric.name}",
        "description": " ".join(rubric.guidance) or "What the questions are answered with.",
        "type": "object",
        "properties": {**parts},
        "required": owed,
        "additionalProperties": False,
    }


def _is_asked(question: Question, by: By) -> bool:
    return is_taken(question, by) and (by == "person" or question.type != "comment")


def _part(title: str, questions: list[Question], by: By) -> JsonObject:
    owed: list[JsonValue] = [question.key for question in questions if is_owed(question, by)]
    return {
        "title": title,
        "type": "object",
        "properties": {question.key: _question(question, by) for question in questions},
        "required": owed,
        "additionalProperties": False,
    }


def _turns(questions: list[Question], by: By, turns: int | None) -> JsonObject:
    frame: JsonObject = {
        "title": "Each assistant turn",
        "type": "object",
        "additionalProperties": False,
    }
    if turns is None:
        one = _part("One assistant turn", questions, by)
        return {**frame, "patternProperties": {"^turn_[1-9][0-9]*$": one}}
    each: JsonObject = {
        f"turn_{number}": _part(f"Assistant turn {number}", questions, by)
        for number in range(1, turns + 1)
    }
    is_each_owed = any(is_owed(question, by) for question in questions)
    owed: list[JsonValue] = [*each] if is_each_owed else []
    return {**frame, "properties": each, "required": owed}


def _question(question: Question, by: By) -> JsonObject:
    said = [question.guidance] if question.guidance else []
    if question.options:
        labels = [f"{option.value} = {option.label}" for option in question.options]
        said.append(f"Options: {'; '.join(labels)}.")
    if question.type == "yes_no":
        said.append("1 = yes, 0 = no.")
    described: JsonObject = {"description": " ".join(said)} if said else {}
    return {"title": question.label, **described, **_form(question, by)}


def _form(question: Question, by: By) -> JsonObject:
    values: list[JsonValue] = [option.value for option in question.options]
    match question.type:
        case "score":
            return _score(cast(Scale, question.scale))
        case "yes_no":
            return {"type": "integer", "enum": [0, 1]}
        case "multi_select":
            chosen: JsonObject = {"type": "string", "enum": values}
            return {"type": "array", "items": chosen, "uniqueItems": True}
        case "comment":
            return {"type": "string", **({"pattern": r"\S"} if is_owed(question, by) else {})}
        case _:
            return {"type": "string", "enum": values}


def _score(scale: Scale) -> JsonObject:
    if len(scale.values) <= MOST_SCORES:
        return {"type": "integer", "enum": list(scale.values)}
    form: JsonObject = {"type": "integer", "minimum": scale.min, "maximum": scale.max}
    if scale.step > 1 and scale.min % scale.step == 0:
        form["multipleOf"] = scale.step
    return form
