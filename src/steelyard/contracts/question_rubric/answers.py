"""Checks answers against their rubric, wherever they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from steelyard.contracts.question_rubric.answer_readers import ANSWER_READERS
from steelyard.contracts.reading import located_finding
from steelyard.formats.names import did_you_mean
from steelyard.formats.problem import Problem, path_order
from steelyard.model.finding import Finding
from steelyard.model.frozen_struct import FrozenStruct
from steelyard.model.json_value import JsonObject, JsonValue, Path
from steelyard.model.question import Answer, Answers, AnswerSet, Question, QuestionRubric

By: TypeAlias = Literal["person", "judge"]
_PARTS = ("trace", "turns")
_A_TURN = "its turn, such as turns.turn_1"
_TURN = re.compile(r"turn_[1-9][0-9]*", re.ASCII)


def read_answers(
    value: JsonValue, rubric: QuestionRubric, *, turns: int, by: By = "person"
) -> tuple[Answers, list[Finding]]:
    """The answers that hold, in the rubric's order, and what is wrong with the others.

    `turns` is the number of assistant turns in the trace. A judge owes only the questions that
    judges answer; beside these it may only comment.
    """
    problems: list[Problem] = []
    parts = _object(value, (), problems)
    answers = Answers()
    if parts is not None:
        problems.extend(_no_part(name, rubric) for name in parts if name not in _PARTS)
        about_trace, about_turn = rubric.asked("trace"), rubric.asked("turn")
        whole = _Sheet(about_trace, about_turn, "it is asked about each turn", _A_TURN, by)
        single = _Sheet(about_turn, about_trace, "it is asked about the whole trace", "trace", by)
        answers = Answers(
            trace=whole.read(parts.get("trace", {}), ("trace",), problems),
            turns=_turns(parts.get("turns", {}), turns, single, problems),
        )
    return answers, [located_finding(problem) for problem in sorted(problems, key=path_order)]


def answers_row(answers: Answers) -> JsonObject:
    """Answers in the form in which they are stored and sent."""
    return {
        "trace": _row(answers.trace),
        "turns": {f"turn_{number}": _row(given) for number, given in answers.turns.items()},
    }


def _is_owed(question: Question, by: By) -> bool:
    """Whether answers without this question are incomplete."""
    return question.required and (by == "person" or question.answered_by_auto)


def _is_taken(question: Question, by: By) -> bool:
    """Whether an answer is allowed; a judge may comment to give its reasons."""
    return by == "person" or question.answered_by_auto or question.kind.is_free_text


class _Sheet(FrozenStruct, frozen=True):
    """The questions of one scope as they are put to a person or a judge."""

    questions: Mapping[str, Question]
    elsewhere: Mapping[str, Question]
    why_elsewhere: str
    place_elsewhere: str
    by: By

    def read(self, value: JsonValue, path: Path, problems: list[Problem]) -> AnswerSet:
        """The answers to these questions that hold."""
        given = _object(value, path, problems)
        if given is None:
            return {}
        problems.extend(self._unknown(key, path) for key in given if key not in self.questions)
        answers: dict[str, Answer] = {}
        for key, question in self.questions.items():
            place = (*path, key)
            answer = None
            if key in given and _is_taken(question, self.by):
                found = len(problems)
                answer = ANSWER_READERS[question.type](given[key], question, place, problems)
                if len(problems) > found:
                    continue
            elif key in given:
                problems.append(_not_for_judges(place))
            if answer is not None and not _is_blank(answer):
                answers[key] = answer
            elif _is_owed(question, self.by):
                problems.append(
                    Problem(code="missing_required_field", message="missing {}", path=place)
                )
        return answers

    def _unknown(self, key: str, path: Path) -> Problem:
        if key in self.elsewhere:
            message = f"{{}} stands in the wrong place: {self.why_elsewhere}"
            hint = f"put it under {self.place_elsewhere}"
        else:
            message = "{} is no question of this rubric"
            hint = did_you_mean(key, self.questions)
        return Problem(code="unsupported_field", message=message, path=(*path, key), hint=hint)


def _turns(
    value: JsonValue, count: int, sheet: _Sheet, problems: list[Problem]
) -> dict[int, AnswerSet]:
    given = _object(value, ("turns",), problems)
    if given is None:
        return {}
    names = {f"turn_{number}": number for number in range(1, count + 1)}
    problems.extend(_no_turn(name, count) for name in given if name not in names)
    answers = {
        number: sheet.read(given.get(name, {}), ("turns", name), problems)
        for name, number in names.items()
    }
    return {number: answered for number, answered in answers.items() if answered}


def _object(value: JsonValue, path: Path, problems: list[Problem]) -> JsonObject | None:
    if isinstance(value, dict):
        return value
    message = "{} must be an object"
    problems.append(Problem(code="invalid_field_type", message=message, path=path))
    return None


def _no_part(name: str, rubric: QuestionRubric) -> Problem:
    hint = did_you_mean(name, _PARTS)
    for question in rubric.questions:
        if question.key == name:
            hint = f"put it under {'trace' if question.scope == 'trace' else _A_TURN}"
    message = "{} is no part of answers, which are trace and turns"
    return Problem(code="unsupported_field", message=message, path=(name,), hint=hint)


def _no_turn(name: str, count: int) -> Problem:
    path = ("turns", name)
    if _TURN.fullmatch(name):
        message = f"{{}} does not exist: the trace has {count} assistant turn(s)"
        return Problem(code="value_out_of_range", message=message, path=path)
    hint = "count the assistant turns from 1: turn_1, turn_2"
    message = "{} is no turn"
    return Problem(code="unsupported_field", message=message, path=path, hint=hint)


def _not_for_judges(path: Path) -> Problem:
    message = "{} is answered by people alone"
    hint = "the rubric says answeredByAuto: false"
    return Problem(code="unsupported_field", message=message, path=path, hint=hint)


def _is_blank(answer: Answer) -> bool:
    """Whether a comment says nothing; a byte order mark counts as white space, as in a schema."""
    return isinstance(answer, str) and not answer.replace("\ufeff", "").strip()


def _row(answers: AnswerSet) -> JsonObject:
    return {
        key: list(answer) if isinstance(answer, tuple) else answer
        for key, answer in answers.items()
    }
