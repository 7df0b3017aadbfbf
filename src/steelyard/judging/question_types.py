"""Each type of question as a judge is asked it, and what an answer is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from steelyard.judging.items import yes_no_field
from steelyard.judging.questions_asked import AnswerField
from steelyard.model.question import Question
from steelyard.model.question_types import QuestionType


class JudgedType(NamedTuple):
    """How a judge is asked a question of one type."""

    field: Callable[[Question, str], AnswerField]
    """Takes the question with its guidance as one text."""
    worth: Callable[[Question, int], float] | None = None
    """The value of an answer from 0 to 1, where it has one of its own."""


def _score(question: Question, asked: str) -> AnswerField:
    scale = question.answer_scale
    return AnswerField(
        key=question.key,
        kind="number",
        span=(scale.min, scale.max),
        step=scale.step,
        question=asked,
    )


def _place(question: Question, answer: int) -> float:
    """The place on the scale, from 0 at the lowest to 1 at the highest."""
    scale = question.answer_scale
    return (answer - scale.min) / (scale.max - scale.min)


def _yes_no(question: Question, asked: str) -> AnswerField:
    return yes_no_field(question.key, asked)


def _itself(_question: Question, answer: int) -> float:
    return float(answer)


def _one(question: Question, asked: str) -> AnswerField:
    return AnswerField(
        key=question.key,
        kind="one",
        values=tuple(option.value for option in question.options),
        labels={option.value: option.label for option in question.options},
        question=asked,
    )


def _many(question: Question, asked: str) -> AnswerField:
    return replace(_one(question, asked), kind="many")


JUDGED_TYPES: Mapping[QuestionType, JudgedType] = {
    "score": JudgedType(_score, _place),
    "single_select": JudgedType(_one),
    "multi_select": JudgedType(_many),
    "yes_no": JudgedType(_yes_no, _itself),
    "button_group": JudgedType(_one),
}
