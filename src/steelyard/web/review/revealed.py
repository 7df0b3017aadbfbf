"""What the judge and others answered, question by question, beside one's own answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from steelyard.contracts.question_rubric.answers import answers_row
from steelyard.model.json_value import JsonObject, JsonValue
from steelyard.model.question import Answers, Question, QuestionRubric
from steelyard.reports.record.check_view import answer_text
from steelyard.usecases.review.queues.ports import JudgedItem
from steelyard.usecases.review.queues.reveal import RevealedAnswers
from steelyard.web.review.annotate_context import RevealedAnswer


def revealed_answers(
    found: RevealedAnswers, rubric: QuestionRubric
) -> dict[str, list[RevealedAnswer]]:
    """The answers of judges first, then of people, then the gold label, by field of the form."""
    shown: dict[str, list[RevealedAnswer]] = {}
    for judged in found.judged:
        said = _said(judged)
        name = f"judge {(judged.judge or judged.check).removeprefix('judge/')}"
        for field, text in fields_of(judged.answers, rubric):
            reasoning, evidence = said.get(field, ("", ""))
            answer = RevealedAnswer(name, text, reasoning=reasoning, evidence=evidence)
            shown.setdefault(field, []).append(answer)
    for label in found.others:
        for field, text in fields_of(answers_row(label.answers or Answers()), rubric):
            shown.setdefault(field, []).append(RevealedAnswer(label.annotator, text))
    if found.gold:
        for field, text in fields_of(found.gold.answers, rubric):
            shown.setdefault(field, []).append(RevealedAnswer("gold label", text))
    return shown


def fields_of(answers: JsonObject, rubric: QuestionRubric) -> Iterator[tuple[str, str]]:
    """Every answer in words, by the name of its field."""
    questions = {one.key: one for one in rubric.questions}
    turns = cast("Mapping[str, JsonObject]", answers.get("turns") or {})
    sheets = {"trace": cast(JsonObject, answers.get("trace") or {}), **turns}
    for scope, sheet in sheets.items():
        for key, value in sheet.items():
            yield f"{scope}.{key}", answer_words(questions.get(key), value)


def answer_words(question: Question | None, value: JsonValue) -> str:
    """An answer in the words of its question."""
    return "none of these" if value == [] else answer_text(question, value)


def _said(judged: JudgedItem) -> dict[str, tuple[str, str]]:
    """Reasoning and evidence of a judge by field."""
    items = judged.details.get("items")
    rows = cast("list[JsonObject]", items) if isinstance(items, list) else []
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        turn = row.get("turn")
        scope = f"turn_{turn}" if isinstance(turn, int) else "trace"
        said = (str(row.get("reasoning") or ""), str(row.get("evidence") or ""))
        found[f"{scope}.{row.get('item')}"] = said
    return found
