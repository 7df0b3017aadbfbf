"""The votes of people on the responses of a run: blind, one for each person, by one rubric."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from fakes.reviews import DESK, RUN, ReviewProject, label, response
from steelyard.model.labels.votes import ResponseVotes
from steelyard.usecases.judges.response_votes import response_votes

OTHER = "rubric/other@1.0.0"


@pytest.fixture
def project(tmp_path: Path) -> Generator[ReviewProject]:
    made = ReviewProject(tmp_path)
    made.run([response(index) for index in range(3)])
    yield made
    made.close()


def test_votes_are_counted_by_response(project: ReviewProject) -> None:
    project.bring(
        [
            label(0, "ann", passed=True),
            label(0, "ben", passed=False),
            label(0, "cem", passed=True),
            label(2, "ann", passed=False),
        ]
    )

    assert response_votes(project.ports, project.folder_of(RUN)) == {
        ("r0", 0): ResponseVotes(2, 3),
        ("r2", 0): ResponseVotes(0, 1),
    }


def test_only_blind_labels_of_the_rubric_with_most_labels_count(project: ReviewProject) -> None:
    project.bring(
        [
            label(0, "ann", passed=True),
            label(1, "ann", passed=True),
            label(0, "ben", passed=False, exposure="suggested"),
            label(0, "dan", passed=False, rubric=OTHER),
        ]
    )

    assert response_votes(project.ports, project.folder_of(RUN)) == {
        ("r0", 0): ResponseVotes(1, 1),
        ("r1", 0): ResponseVotes(1, 1),
    }


def test_a_regraded_run_has_the_votes_of_the_run_whose_answers_it_grades(
    project: ReviewProject,
) -> None:
    project.bring([label(0, "ann", passed=True)])
    derived = {"run_id": RUN, "how": "regrade", "folder": str(project.folder_of(RUN))}
    again = project.run([response(0)], "run_again", (DESK,), derived_from=derived)

    assert response_votes(project.ports, again) == {("r0", 0): ResponseVotes(1, 1)}


def test_without_labels_there_are_no_votes(project: ReviewProject) -> None:
    assert response_votes(project.ports, project.folder_of(RUN)) == {}


@pytest.mark.parametrize(
    ("votes", "is_good"), [((2, 3), True), ((1, 3), False), ((1, 2), None), ((0, 0), None)]
)
def test_the_majority_decides(votes: tuple[int, int], is_good: bool | None) -> None:
    assert ResponseVotes(*votes).is_good is is_good
