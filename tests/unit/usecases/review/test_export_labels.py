"""Labels are given back as they can be brought in again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.reviews import RUN, ReviewProject, label, response, says
from steelyard.errors import NotFoundError
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.review.export_labels import export_labels

ROWS = [
    label(0, answers=says({"turn_1": {"turn_ok": "poor"}}, correct=1)),
    label(0, "bob", answers=says(issues=["slow"]), inclusion_prob=0.5, minutes=2),
    label(1, rubric="verdict", passed=False, exposure="suggested"),
    label(0, run_id="run_2", passed=True),
]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project with labels of two runs."""
    made = ReviewProject(tmp_path)
    made.run([response(0), response(1)])
    made.run([response(0)], "run_2")
    made.bring(ROWS)
    yield made
    made.close()


def exported(project: ReviewProject, **options: Any) -> list[dict[str, Any]]:
    run, history = options.pop("run", None), options.pop("with_history", False)
    return [*export_labels(project.ports, Wanted(**options), run=run, with_history=history)]


def test_what_comes_out_is_what_came_in_and_comes_in_again_as_the_same(
    project: ReviewProject,
) -> None:
    found = exported(project)

    assert len(found) == len(ROWS)
    bare = [{name: one for name, one in row.items() if name != "rubric_sha256"} for row in found]
    assert all(row in bare for row in ROWS)
    again = project.bring(found)
    assert (again.same, again.imported, again.refused) == (4, 0, 0)


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ({"rubric": "desk-v1"}, 3),
        ({"rubric": "rubric/desk-v1"}, 3),
        ({"rubric": "verdict"}, 1),
        ({"run": RUN}, 3),
        ({"annotator": "bob"}, 1),
        ({"run": "run_2", "annotator": "ann"}, 1),
    ],
)
def test_labels_are_chosen_by_rubric_run_and_person(
    project: ReviewProject, options: dict[str, str], number: int
) -> None:
    assert len(exported(project, **options)) == number


def test_history_says_what_was_replaced_and_when(project: ReviewProject) -> None:
    changed = {**ROWS[2], "passed": True}
    project.bring([changed], is_replacing=True)
    found = exported(project, rubric="verdict", with_history=True)

    assert [(row["passed"], row["revision"]) for row in found] == [(False, 1), (True, 2)]
    assert all(row["kept_at"].startswith("2026-01-15T") for row in found)
    assert exported(project, rubric="verdict") == [changed]


@pytest.mark.parametrize("options", [{"annotator": "nobody"}, {"run": "run_9"}])
def test_nothing_to_give_is_an_error(project: ReviewProject, options: dict[str, str]) -> None:
    with pytest.raises(NotFoundError):
        exported(project, **options)
