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
from steelyard.usecases.review.label_csv import label_csv
from steelyard.usecases.review.labels import KnownRubrics

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


ODD: list[Any] = [
    *ROWS,
    label(1, "=cmd()", answers=says(issues=[], note="=1+1"), stratum="-failed"),
    label(1, "bob", answers=says({"turn_2": {"turn_ok": "fine"}}, quality=3), id="x", minutes=1.5),
    label(1, "cy", answers=says(issues=["slow", "rude"], note=" two\nlines, 'x' "), remark="'=1"),
    label(1, "di", answers=says(note="'=1", correct=0), question="kept", rest={"a": [1]}),
    label(1, "ed", rubric_sha256="0" * 64, answers=says(tone="cold")),
]


def test_a_table_of_labels_comes_in_again_as_the_same(project: ReviewProject) -> None:
    project.bring(ODD)
    found = exported(project)
    text = "".join(label_csv(found, KnownRubrics(project.references)))
    again = project.bring_table(text)

    assert (again.same, again.imported, again.refused) == (len(ODD), 0, 0)
    assert "'=cmd()" in text
    assert text.splitlines()[0].startswith("record_id,run_id,repeat,rubric,annotator,exposure")


def test_a_gold_label_is_no_label_of_a_person(project: ReviewProject) -> None:
    gold: dict[str, Any] = {**label(1, "lead", answers=says(correct=1)), "gold": {"revision": 1}}
    table = "".join(label_csv([gold], KnownRubrics(project.references)))

    for found in (project.bring([gold]), project.bring_table(table)):
        assert (found.read, found.gold, found.refused) == (0, 1, 0)
    assert len(exported(project)) == len(ROWS)


@pytest.mark.parametrize("cell", ["{", "[]", '{""answers"": 1}', '{""answers"": {""turns"": []}}'])
def test_json_of_a_table_that_cannot_be_read_is_a_refused_row(
    project: ReviewProject, cell: str
) -> None:
    head = "record_id,run_id,rubric,annotator,exposure,passed,more_json\n"
    found = project.bring_table(f'{head}r0,{RUN},verdict,ann,blind,yes,"{cell}"\n')

    assert (found.read, found.refused) == (1, 1)
    assert "more_json: " in found.findings[0].message
