"""Rubrics with their judges and inner rubrics resolved."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from steelyard.engine.grading.composite import COMPOSITES, composite
from steelyard.engine.grading.graders import single_judge
from steelyard.errors import InvalidError
from steelyard.formats.json_fields import (
    number_field,
    object_field,
    object_list,
    optional_number,
    optional_text,
    text_field,
)
from steelyard.judging.jury import Aggregation, Juror, Jury
from steelyard.judging.questionnaire import Questionnaire
from steelyard.model.json_value import JsonObject
from steelyard.model.question import QuestionRubric
from steelyard.model.reference import Reference
from steelyard.model.rubric import Check, JudgedCheck, Rubric, RubricCheck, StatedCheck
from steelyard.usecases.runs.asked_judges import Judges

QUESTIONS = "questions"
"""The id of the only check of a question rubric."""


def resolve_rubric(
    rubric: Rubric | QuestionRubric, judges: Judges, threshold: float | None = None
) -> Rubric:
    """The rubric with executable checks in place of declared ones.

    A question rubric has one check, which asks a judge all questions.
    """
    if isinstance(rubric, QuestionRubric):
        made = _questions(rubric, judges)
    elif rubric.stated:
        checks = tuple(_entry(one, judges) for one in rubric.checks)
        made = replace(rubric, checks=checks, grading_sha256=_grading_sha256(rubric, checks))
    else:
        made = rubric
    return made if threshold is None else replace(made, pass_threshold=threshold)


def _questions(rubric: QuestionRubric, judges: Judges) -> Rubric:
    judge = judges.judge("questionnaire")
    setting = judges.setting(judge)
    check = Questionnaire(
        rubric=rubric, judge=judge, is_grouped=setting.grouped, samples=setting.samples
    )
    return Rubric(
        id=rubric.version,
        version="",
        checks=(RubricCheck(id=QUESTIONS, check=check),),
        pass_threshold=check.pass_threshold,
        description=rubric.name,
        sha256=rubric.sha256,
        grading_sha256=rubric.grading_sha256,
    )


def _grading_sha256(rubric: Rubric, checks: Iterable[RubricCheck]) -> str | None:
    """The hash of everything that affects scores, including rubrics of composites."""
    inner = [
        one.check.rubric.grading_sha256 for one in checks if isinstance(one.check, COMPOSITES)
    ]
    if not inner:
        return rubric.grading_sha256
    hashes = " ".join(map(str, (rubric.grading_sha256, *inner)))
    return hashlib.sha256(hashes.encode("ascii")).hexdigest()


def _entry(entry: RubricCheck, judges: Judges) -> RubricCheck:
    if not isinstance(entry.check, StatedCheck):
        return entry
    return replace(entry, check=_check(entry.check, judges))


def _check(stated: StatedCheck, judges: Judges) -> Check | JudgedCheck:
    settings = stated.settings
    if stated.kind == "composite":
        return _composite(text_field(settings, "rubric_ref"), judges)
    threshold = optional_number(settings, "threshold")
    if "jury" in settings:
        return _jury(object_field(settings, "jury"), threshold, judges)
    judge = judges.named(text_field(settings, "judge_prompt_ref"))
    return single_judge(judge, judges.setting(judge), threshold)


def _jury(jury: JsonObject, threshold: float | None, judges: Judges) -> Jury:
    jurors: list[Juror] = []
    for row in object_list(jury, "judges"):
        judge = judges.named(text_field(row, "judge_prompt_ref"))
        setting = judges.setting(judge)
        jurors.append(
            Juror(
                judge=judge,
                weight=float(number_field(row, "weight", 1.0)),
                target=optional_text(row, "target"),
                samples=setting.samples,
                wants_logprobs=setting.logprobs,
            )
        )
    aggregation = cast(Aggregation, jury.get("aggregation", "mean"))
    return Jury(jurors=tuple(jurors), aggregation=aggregation, threshold=threshold)


def _composite(text: str, judges: Judges) -> Check | JudgedCheck:
    inner = judges.references.find(cast(Reference, Reference.parse(text))).content
    if not isinstance(inner, Rubric | QuestionRubric):
        raise InvalidError(f"{text} cannot be used")
    return composite(resolve_rubric(inner, judges))
