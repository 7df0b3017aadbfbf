"""Answers as the fields of a form, for browsers that run no scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.errors import InvalidError
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.reports.question_form import FormQuestion, QuestionForm

_NUMBERS = {"score", "yes_no"}


def field_name(scope: str, question: FormQuestion) -> str:
    """The name of the field of a question; `scope` is `trace` or a turn such as `turn_3`."""
    return f"{scope}.{question.key}"


def revision_in(form: Mapping[str, str]) -> int:
    """The revision that a form changes."""
    revision = form.get("revision", "")
    if not revision.isdecimal():
        raise InvalidError("the form does not say which revision it changes")
    return int(revision)


def answers_in(form: Mapping[str, str], asked: QuestionForm, turns: int) -> JsonObject:
    """What a form answers, in the shape in which answers are stored."""
    about_turns = {
        scope: given
        for scope in (f"turn_{number}" for number in range(1, turns + 1))
        if (given := _sheet(form, asked.turn, scope))
    }
    return {"trace": _sheet(form, asked.trace, "trace"), "turns": {**about_turns}}


def _sheet(form: Mapping[str, str], questions: Sequence[FormQuestion], scope: str) -> JsonObject:
    found = ((one.key, _answer(form, one, field_name(scope, one))) for one in questions)
    return {key: answer for key, answer in found if answer is not None}


def _answer(form: Mapping[str, str], question: FormQuestion, name: str) -> JsonValue:
    if question.widget == "pills":
        chosen = [
            choice.value
            for place, choice in enumerate(question.choices)
            if f"{name}.{place}" in form
        ]
        is_answered = bool(chosen) or f"{name}.none" in form
        return [*chosen] if is_answered else None
    text = form.get(name, "")
    if not text.strip():
        return None
    if question.type in _NUMBERS:
        return int(text) if text.lstrip("-").isdecimal() else text
    return text
