"""Which records to label next: drawn from those that can be looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.definitions import QUESTIONS
from fakes.reviews import DESK, RUN, ReviewProject, check, failed, label, response, says
from steelyard.errors import RequestError
from steelyard.model.labels.assignment import Assignment, AssignmentChoice, ChosenBy
from steelyard.usecases.review.assign import AssignmentRequest, assign, stub_rows


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project without a run."""
    made = ReviewProject(tmp_path)
    yield made
    made.close()


def drawn(project: ReviewProject, count: int, by: ChosenBy = "random", **more: Any) -> Assignment:
    choice = AssignmentChoice(count=count, by=by, **more.pop("choice", {}))
    return assign(project.ports, AssignmentRequest(run=RUN, choice=choice, **more))


def names(found: Assignment) -> set[str]:
    return {one.candidate.record_id for one in found.assigned}


def test_only_records_with_a_response_are_drawn(project: ReviewProject) -> None:
    project.run([response(0), failed(1), failed(2), {**response(2), "repeat": 1}, response(3)])
    found = drawn(project, 3)

    assert names(found) == {"r0", "r2", "r3"}
    assert [one.candidate.repeat for one in found.assigned] == [0, 1, 0]
    assert (found.records, found.left_out) == (3, {"without a response": 1})
    assert (found.run_id, found.rubric) == (RUN, DESK)


@pytest.mark.parametrize(
    ("rubrics", "named", "rubric"),
    [
        ((DESK,), None, DESK),
        (("rubric/a@1.0.0", "rubric/b@1.0.0"), None, "verdict"),
        ((), None, "verdict"),
        (("rubric/a@1.0.0",), "desk-v1", DESK),
        (("rubric/a@1.0.0",), "is it polite?", "is it polite?"),
    ],
)
def test_people_answer_what_graded_the_run_unless_something_else_is_named(
    project: ReviewProject, rubrics: tuple[str, ...], named: str | None, rubric: str
) -> None:
    project.run([response(0)], rubrics=rubrics)

    assert drawn(project, 1, rubric=named).rubric == rubric


def test_the_stubs_can_be_filled_in_and_brought_in(project: ReviewProject) -> None:
    project.run([response(place) for place in range(10)])
    found = drawn(project, 4)
    stubs = [*stub_rows(found, ("ann", "bob"))]
    refused = project.bring(stubs)
    filled = [{**row, "answers": says(correct=1)} for row in stubs]

    assert (refused.refused, refused.imported) == (8, 0)
    assert project.bring(filled).imported == 8
    assert [row["inclusion_prob"] for row in stubs] == [0.4] * 8
    assert [row["annotator"] for row in stub_rows(found, ())] == [""] * 4


def test_a_stub_names_its_repeat_and_not_the_verdict_by_which_it_was_drawn(
    project: ReviewProject,
) -> None:
    project.run([failed(0), {**response(0), "repeat": 1}])
    (row,) = stub_rows(drawn(project, 1, "stratified"), ("ann",))

    assert (row["repeat"], row["exposure"]) == (1, "blind")
    assert "passed" not in row.values()


def test_strata_are_verdicts_or_slices(project: ReviewProject) -> None:
    rows = [
        response(place, passed=place < 8, slices={"tags": ["a"] if place % 2 else ["b", "a"]})
        for place in range(10)
    ]
    project.run([*rows, response(10, status="evaluation_error", passed=None, score=None)])
    verdicts = drawn(project, 6, "stratified", choice={"is_equal": True})
    tags = drawn(project, 6, "stratified", slice="tags")

    assert verdicts.strata == {"failed": (2, 2), "no score": (1, 1), "passed": (3, 8)}
    assert tags.strata == {"a": (3, 5), "a + b": (2, 5), "none": (1, 1)}
    assert sum(taken for taken, _ in tags.strata.values()) == 6


def test_a_slice_that_the_run_does_not_have_is_refused(project: ReviewProject) -> None:
    project.run([response(0, slices={"tags": ["a"]})])

    with pytest.raises(RequestError, match="no slice 'topic'; it has: tags"):
        drawn(project, 1, "stratified", slice="topic")


def jury(apart: float, *, is_split: bool = False) -> dict[str, Any]:
    details: dict[str, Any] = {"disagreement": apart, "is_split": is_split, "jurors": []}
    return check(None, check="heard", kind="llm_judge", details=details)


def test_a_divided_jury_is_looked_at_first(project: ReviewProject) -> None:
    rows = [response(place, jury(0.0)) for place in range(20)]
    rows += [response(20, jury(0.1, is_split=True)), response(21, jury(0.9), jury(0.2))]
    project.run(rows)
    found = drawn(project, 22, "jury_split")

    splits = {one.candidate.record_id: one.candidate.split for one in found.assigned}
    assert (splits["r0"], splits["r20"], splits["r21"]) == (0.0, 1.0, 0.9)


def test_without_a_jury_that_is_told(project: ReviewProject) -> None:
    project.run([response(0, check(None))])

    with pytest.raises(RequestError, match="no response was looked at by a jury"):
        drawn(project, 1, "jury_split")


QUESTIONS_WITH_THRESHOLD = (
    QUESTIONS.format(version="strict-v1", status="draft") + "scoring: {pass_threshold: 0.9}\n"
)


@pytest.mark.parametrize(
    ("rubric", "options", "asked", "threshold"),
    [
        (DESK, {}, None, 0.7),
        ("rubric/strict-v1", {}, None, 0.9),
        ("rubric/polite@1.0.0", {}, None, 0.7),
        ("rubric/strict-v1", {"pass_threshold": 0.4}, None, 0.4),
        ("rubric/strict-v1", {"pass_threshold": 0.4}, 0.2, 0.2),
        ("rubric/gone-v1", {}, None, 0.7),
    ],
)
def test_the_threshold_is_the_one_that_the_run_was_graded_with(
    project: ReviewProject,
    rubric: str,
    options: dict[str, float],
    asked: float | None,
    threshold: float,
) -> None:
    project.write("rubrics/strict-v1.yaml", QUESTIONS_WITH_THRESHOLD)
    project.rubric("polite@1.0.0")
    project.run([response(0)], rubrics=[rubric], options=options)

    assert drawn(project, 1, "near_threshold", threshold=asked).choice.threshold == threshold


def test_records_that_have_a_label_can_be_left_out(project: ReviewProject) -> None:
    folder = project.run([response(place) for place in range(5)])
    project.bring([label(0, passed=True), label(1, rubric="other", passed=True)])
    derived = {"run_id": RUN, "how": "regrade", "folder": str(folder)}
    project.run([response(place) for place in range(5)], "run_2", derived_from=derived)
    request = AssignmentRequest(run="run_2", choice=AssignmentChoice(count=4), is_new=True)
    found = assign(project.ports, request)

    assert names(found) == {"r1", "r2", "r3", "r4"}
    assert (found.records, found.left_out) == (4, {"labelled before": 1})
    assert drawn(project, 5).records == 5


def test_a_run_without_a_response_and_too_many_records_are_refused(
    project: ReviewProject,
) -> None:
    project.run([failed(0)])
    with pytest.raises(RequestError, match="no response to look at"):
        drawn(project, 1)
    project.run([response(0)], "run_2")
    request = AssignmentRequest(run="run_2", choice=AssignmentChoice(count=2))
    with pytest.raises(RequestError, match="2 records are asked for, and 1 can be chosen"):
        assign(project.ports, request)
