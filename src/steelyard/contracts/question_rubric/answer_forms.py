"""The answers to each type of question: how one is read, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from steelyard.contracts.question_rubric.answer_values import (
    read_comment,
    read_option,
    read_score,
    read_several,
    read_yes_no,
)
from steelyard.formats.problem import Problem
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.question import Answer, Question
from steelyard.model.question_types import QuestionType

MOST_SCORES = 51
"""As many scores as are listed one by one; a longer scale is stated by its ends."""
Read: TypeAlias = Callable[[JsonValue, Question, Path, list[Problem]], Answer | None]


class AnswerForm(NamedTuple):
    """What an answer looks like."""

    read: Read
    """The answer in its stored form; None when a problem was found."""
    schema: Callable[[Question, bool], JsonObject]
    """Takes whether answers without it are incomplete."""


def _score(question: Question, _is_owed: bool) -> JsonObject:
    scale = question.answer_scale
    if len(scale.values) <= MOST_SCORES:
        return {"type": "integer", "enum": list(scale.values)}
    form: JsonObject = {"type": "integer", "minimum": scale.min, "maximum": scale.max}
    if scale.step > 1 and scale.min % scale.step == 0:
        form["multipleOf"] = scale.step
    return form


def _yes_no(_question: Question, _is_owed: bool) -> JsonObject:
    return {"type": "integer", "enum": [0, 1]}


def _option(question: Question, _is_owed: bool) -> JsonObject:
    return {"type": "string", "enum": [option.value for option in question.options]}


def _several(question: Question, is_owed: bool) -> JsonObject:
    return {"type": "array", "items": _option(question, is_owed), "uniqueItems": True}


def _comment(_question: Question, is_owed: bool) -> JsonObject:
    return {"type": "string", **({"pattern": r"\S"} if is_owed else {})}


ANSWER_FORMS: Mapping[QuestionType, AnswerForm] = {
    "score": AnswerForm(read_score, _score),
    "single_select": AnswerForm(read_option, _option),
    "multi_select": AnswerForm(read_several, _several),
    "yes_no": AnswerForm(read_yes_no, _yes_no),
    "button_group": AnswerForm(read_option, _option),
    "comment": AnswerForm(read_comment, _comment),
}
