"""Scales, questions and the rubrics they stand in."""

from __future__ import annotations

import pytest

from steelyard.model.question import Answers, Option, Question, QuestionRubric, Scale
from steelyard.model.reference import Reference

RUBRIC = QuestionRubric(
    name="Help desk",
    version="helpdesk-v1",
    questions=(
        Question(key="a", label="A", type="yes_no", answered_by_auto=True),
        Question(key="b", label="B", type="comment", scope="turn", answered_by_auto=False),
        Question(key="c", label="C", type="yes_no", answered_by_auto=True),
    ),
)


@pytest.mark.parametrize(
    ("scale", "values", "text"),
    [
        (Scale(min=0, max=5), [0, 1, 2, 3, 4, 5], "0-5"),
        (Scale(min=-1, max=1), [-1, 0, 1], "-1-1"),
        (Scale(min=0, max=10, step=5), [0, 5, 10], "0-10 in steps of 5"),
        (Scale(min=1, max=7, step=3), [1, 4, 7], "1-7 in steps of 3"),
    ],
)
def test_a_scale_has_its_scores_and_a_form_for_people(
    scale: Scale, values: list[int], text: str
) -> None:
    assert list(scale.values) == values
    assert str(scale) == text


def test_a_rubric_is_referred_to_by_its_version_alone() -> None:
    assert RUBRIC.reference == Reference(kind="rubric", id="helpdesk-v1")
    assert str(RUBRIC.reference) == "rubric/helpdesk-v1"


def test_questions_are_asked_by_scope_in_their_order() -> None:
    assert list(RUBRIC.asked("trace")) == ["a", "c"]
    assert list(RUBRIC.asked("turn")) == ["b"]


def test_a_rubric_is_a_draft_unless_it_says_otherwise() -> None:
    assert (RUBRIC.status, RUBRIC.scale, RUBRIC.guidance, RUBRIC.sha256) == (
        "draft",
        None,
        (),
        None,
    )


def test_without_answers_both_parts_are_empty() -> None:
    assert (Answers().trace, Answers().turns) == ({}, {})


@pytest.mark.parametrize("value", [Scale(min=0, max=1), Option(value="a", label="A"), RUBRIC])
def test_values_are_frozen(value: Scale | Option | QuestionRubric) -> None:
    with pytest.raises(AttributeError):
        value.extra = {"x": 1}  # pyright: ignore[reportAttributeAccessIssue]
