"""What the answers to a question rubric come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import fsum
from typing import cast

from steelyard.judging.question_types import JUDGED_TYPES
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.question import (
    Answer,
    Answers,
    Question,
    QuestionRubric,
    QuestionScoring,
)
from steelyard.model.scores import weighted_mean


class QuestionScore(FrozenStruct, frozen=True, kw_only=True):
    """A weighted mean of the questions that count; or none, where no answer counts."""

    value: float | None
    parts: Mapping[str, float]
    """From 0 to 1 by key, each the mean over its turns; questions without an answer are absent."""
    counting: tuple[str, ...]
    """The keys of all questions that would count."""


def question_score(rubric: QuestionRubric, answers: Answers) -> QuestionScore:
    """The score of one trace.

    A value counts by its place on the scale, from 0 at the lowest to 1 at the highest; a
    question that is asked about turns counts once, by the mean over those that were answered.
    Questions without an answer are in no denominator.
    """
    scoring = rubric.scoring or QuestionScoring()
    weights = counting_questions(rubric)
    questions = {question.key: question for question in rubric.questions}
    parts: dict[str, float] = {}
    for key, weight in weights.items():
        values = [_worth(questions[key], one, scoring) for one in _given(answers, key)]
        if values:
            part = fsum(values) / len(values)
            parts[key] = part if weight > 0 else 1.0 - part
    value = None
    if parts:
        mean = weighted_mean([*parts.values()], [abs(weights[key]) for key in parts])
        # rounding can step just past 1
        value = min(1.0, mean)
    return QuestionScore(value=value, parts=parts, counting=tuple(weights))


def counting_questions(rubric: QuestionRubric) -> dict[str, float]:
    """The questions that count and their weights: those that are named, else all with a value."""
    scoring = rubric.scoring or QuestionScoring()
    if scoring.questions:
        return dict(scoring.questions)
    return {one.key: 1.0 for one in _with_a_value(rubric.questions, scoring)}


def _with_a_value(questions: Iterable[Question], scoring: QuestionScoring) -> Iterator[Question]:
    for question in questions:
        if question.kind.has_value or question.key in scoring.options:
            yield question


def _given(answers: Answers, key: str) -> list[Answer]:
    sheets = (answers.trace, *answers.turns.values())
    return [sheet[key] for sheet in sheets if key in sheet]


def _worth(question: Question, answer: Answer, scoring: QuestionScoring) -> float:
    worth = JUDGED_TYPES[question.type].worth
    if worth and isinstance(answer, int):
        return worth(question, answer)
    return scoring.options[question.key][cast(str, answer)]
