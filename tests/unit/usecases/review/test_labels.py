"""Labels that are kept come back with answers that fit their rubric as it is now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.review_project import QUESTIONS
from fakes.reviews import DESK, RUN, ReviewProject, label, response, says
from steelyard.model.labels.annotation import Wanted
from steelyard.model.labels.label import Label
from steelyard.model.question import Answers
from steelyard.usecases.review.labels import KnownRubrics, fitting, stored_labels


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project with two labels of a response."""
    made = ReviewProject(tmp_path)
    made.run([response(0)])
    answers = says({"turn_2": {"turn_ok": "fine"}}, quality=5, issues=["rude", "slow"])
    rows = [
        label(0, answers=answers, inclusion_prob=0.5),
        label(0, "bob", rubric="verdict", passed=True, repeat=0),
    ]
    assert made.bring(rows).refused == 0
    yield made
    made.close()


def kept(project: ReviewProject) -> list[Label]:
    rubrics = KnownRubrics(project.references)
    return [*stored_labels(project.store, Wanted(), rubrics)]


def test_labels_come_back_as_they_were_given(project: ReviewProject) -> None:
    answered, passed = kept(project)

    assert answered.answers == Answers(
        trace={"quality": 5, "issues": ("slow", "rude")}, turns={2: {"turn_ok": "fine"}}
    )
    assert (answered.rubric, answered.run_id, answered.inclusion_prob) == (DESK, RUN, 0.5)
    assert (passed.passed, passed.answers, passed.annotator) == (True, None, "bob")


def test_what_no_longer_fits_is_left_out(project: ReviewProject) -> None:
    changed = json.loads(json.dumps(QUESTIONS))
    changed["questions"][1]["scale"] = {"min": 0, "max": 3}
    project.write("rubrics/desk-v1.json", json.dumps(changed))
    answered, _ = kept(project)

    assert answered.answers is not None
    assert [*answered.answers.trace] == ["issues"]


def test_without_its_rubric_a_label_has_no_answers(project: ReviewProject) -> None:
    (project.root / "rubrics" / "desk-v1.json").unlink()

    assert kept(project)[0].answers == Answers()


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (says(correct=1), 0),
        (says({"turn_7": {"turn_ok": "fine"}}), 0),
        (says({"turn_x": {"turn_ok": "fine"}}, correct=3), 2),
        ({"trace": [], "turns": []}, 2),
        ([], 1),
    ],
)
def test_what_does_not_fit_is_counted(project: ReviewProject, value: object, wrong: int) -> None:
    rubric = KnownRubrics(project.references).questions(DESK)

    assert rubric is not None
    assert fitting(value, rubric)[1] == wrong  # pyright: ignore[reportArgumentType]
