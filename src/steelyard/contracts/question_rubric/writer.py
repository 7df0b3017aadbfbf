"""Writes contract 3, as JSON or as YAML; what was read comes back unchanged."""

from __future__ import annotations

from steelyard.model.json_value import JsonObject
from steelyard.model.question import (
    Option,
    Question,
    QuestionRubric,
    QuestionScoring,
    Scale,
)


def rubric_row(rubric: QuestionRubric) -> JsonObject:
    """A rubric with its fields in the usual order; what is absent is left out.

    Dimensions are written as the questions that they became.
    """
    row: JsonObject = {"name": rubric.name, "version": rubric.version, "status": rubric.status}
    if rubric.scale:
        row["scale"] = _scale(rubric.scale)
    if rubric.guidance:
        row["guidance"] = list(rubric.guidance)
    row["questions"] = [_question(question, rubric.scale) for question in rubric.questions]
    if rubric.scoring:
        row["scoring"] = _scoring(rubric.scoring)
    return {**row, **rubric.extra}


def _question(question: Question, default: Scale | None) -> JsonObject:
    row: JsonObject = {
        "key": question.key,
        "label": question.label,
        "type": question.type,
        "scope": question.scope,
    }
    if question.required:
        row["required"] = True
    if question.scale and question.scale != default:
        row["scale"] = _scale(question.scale)
    if question.guidance is not None:
        row["guidance"] = question.guidance
    if question.kind.is_free_text or not question.answered_by_auto:
        row["answeredByAuto"] = False
    if question.options:
        row["options"] = [_option(option) for option in question.options]
    return {**row, **question.extra}


def _scoring(scoring: QuestionScoring) -> JsonObject:
    row: JsonObject = {}
    if scoring.questions:
        row["questions"] = dict(scoring.questions)
    if scoring.options:
        row["options"] = {key: dict(worth) for key, worth in scoring.options.items()}
    if scoring.pass_threshold is not None:
        row["pass_threshold"] = scoring.pass_threshold
    return row


def _scale(scale: Scale) -> str | JsonObject:
    if scale.step == 1 and not scale.extra:
        return f"{scale.min}-{scale.max}"
    step: JsonObject = {"step": scale.step} if scale.step != 1 else {}
    return {"min": scale.min, "max": scale.max, **step, **scale.extra}


def _option(option: Option) -> JsonObject:
    return {"value": option.value, "label": option.label, **option.extra}
