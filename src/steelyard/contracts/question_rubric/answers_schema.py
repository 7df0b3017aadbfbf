"""A JSON Schema for the answers to a rubric, for a judge to follow.

It says with enumerations what it can, has no references and lists every turn by name, because
that is what the providers of models can enforce. What it cannot state, steps of a long scale
and clean text, `read_answers` checks.
"""

from __future__ import annotations

from steelyard.contracts.question_rubric.answer_forms import ANSWER_FORMS
from steelyard.contracts.question_rubric.answers import By, is_owed, is_taken
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Question, QuestionRubric


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
    return is_taken(question, by) and (by == "person" or not question.kind.is_free_text)


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
    texts = [question.guidance] if question.guidance else []
    if question.options:
        labels = [f"{option.value} = {option.label}" for option in question.options]
        texts.append(f"Options: {'; '.join(labels)}.")
    if words := question.kind.words:
        named = [f"{value} = {words[value]}" for value in reversed(range(len(words)))]
        texts.append(f"{', '.join(named)}.")
    described: JsonObject = {"description": " ".join(texts)} if texts else {}
    form = ANSWER_FORMS[question.type].schema(question, is_owed(question, by))
    return {"title": question.label, **described, **form}
