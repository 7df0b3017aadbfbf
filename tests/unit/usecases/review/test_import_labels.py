"""Labels come in held against rubric and trace, redacted, and once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.review_project import QUESTIONS
from fakes.reviews import DESK, RUN, SECRET, ReviewProject, failed, label, response, says
from steelyard.errors import NotFoundError, RequestError
from steelyard.model.finding import Finding
from steelyard.model.labels.annotation import Wanted
from steelyard.reports.judges.labels import ImportedLabels

GOOD = says(correct=1)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project with a run of three responses and a failure."""
    made = ReviewProject(tmp_path)
    made.run([response(0), response(1), response(1, repeat=1), failed(2), response(3)])
    yield made
    made.close()


def counts(found: ImportedLabels) -> tuple[int, int, int, int]:
    return found.read, found.imported, found.same, found.refused


def only(found: ImportedLabels) -> Finding:
    assert len(found.findings) == 1
    return found.findings[0]


def rows(project: ReviewProject) -> list[dict[str, Any]]:
    return [one.row for one in project.store.all(Wanted())]


def test_a_label_is_kept_as_it_was_written(project: ReviewProject) -> None:
    given = [
        label(0, answers=says({"turn_2": {"turn_ok": "fine"}}, correct=1, quality=4)),
        label(0, "bob", answers=GOOD, passed=True, inclusion_prob=0.25, minutes=3),
        label(1, repeat=1, answers=GOOD),
        label(1, rubric="accurate", passed=False),
    ]
    found = project.bring(given)

    assert counts(found) == (4, 4, 0, 0)
    assert (found.findings, found.replaced, dict(found.redacted)) == ((), 0, {})
    kept = rows(project)
    contents = [row.pop("rubric_sha256", None) for row in kept]
    assert len(kept) == 4
    assert all(row in kept for row in given)
    # Answers carry the content of the rubric that asked for them.
    assert [content is None for content in contents] == ["answers" not in row for row in kept]
    assert len(set(contents) - {None}) == 1


def test_the_same_again_is_said_and_changes_nothing(project: ReviewProject) -> None:
    project.bring([label(0, answers=GOOD)])
    found = project.bring([label(0, answers=GOOD), label(1, answers=GOOD), label(1, answers=GOOD)])

    assert counts(found) == (3, 1, 2, 0)
    assert (found.total, found.accepted, found.rejected, found.is_valid) == (3, 3, 0, True)


def test_something_else_is_refused_unless_it_shall_be_replaced(project: ReviewProject) -> None:
    project.bring([label(0, answers=GOOD)])
    other = [label(0, answers=says(correct=0))]
    refused = project.bring(other)
    replaced = project.bring(other, is_replacing=True)

    assert counts(refused) == (1, 0, 0, 1)
    finding = only(refused)
    assert (finding.code, finding.line, finding.index, finding.record_id) == (
        "duplicate_record_id",
        1,
        0,
        "r0",
    )
    assert finding.message == f"ann said something else about 'r0' of {RUN} under {DESK}"
    assert "`replace`" in str(finding.hint)
    assert counts(replaced) == (1, 1, 0, 0)
    assert replaced.replaced == 1
    assert [one.row["answers"] for one in project.store.all(Wanted(), with_history=True)] == [
        says(correct=1),
        says(correct=0),
    ]


@pytest.mark.parametrize(
    ("row", "code", "path", "said"),
    [
        ("{", "invalid_json", "", "invalid JSON"),
        (label(0), "missing_required_field", "answers", "missing answers"),
        (label(0, answers=says()), "missing_required_field", "answers", "says nothing"),
        (
            label(0, answers=says(correct=2)),
            "value_out_of_range",
            "answers.trace.correct",
            "must be 1 or 0",
        ),
        (
            label(0, answers=says({"turn_3": {"turn_ok": "fine"}}, correct=1)),
            "value_out_of_range",
            "answers.turns.turn_3",
            "the trace has 2 assistant turn(s)",
        ),
        (
            label(0, rubric="rubric/desk-v2", answers=GOOD),
            "dangling_reference",
            "answers",
            "cannot resolve rubric/desk-v2",
        ),
        (
            label(0, rubric="judge/x", answers=GOOD),
            "dangling_reference",
            "answers",
            "is no reference to a rubric",
        ),
        (
            label(0, rubric="polite", answers=GOOD),
            "dangling_reference",
            "answers",
            "has checks and no questions",
        ),
        (label(9, passed=True), "dangling_reference", "record_id", f"no record 'r9' in {RUN}"),
        (
            label(0, passed=True, repeat=1),
            "dangling_reference",
            "record_id",
            "no record 'r0' (repeat 1)",
        ),
        (
            label(2, passed=True),
            "dangling_reference",
            "record_id",
            f"'r2' of {RUN} has no response (timeout)",
        ),
        (label(2, answers=GOOD), "dangling_reference", "answers", "has no response (timeout)"),
        (label(0, passed=True, run_id="run_9"), "dangling_reference", "run_id", "no run 'run_9'"),
        (label(0, answers=GOOD, run_id="run_9"), "dangling_reference", "answers", "no run"),
    ],
)
def test_a_wrong_label_is_refused_with_its_place_and_its_siblings_are_kept(
    project: ReviewProject, row: Any, code: str, path: str, said: str
) -> None:
    project.rubric("polite@1.0.0")
    found = project.bring([label(3, passed=True), row, label(3, "bob", passed=True)])

    assert counts(found) == (3, 2, 0, 1)
    finding = only(found)
    assert (finding.code, finding.path, finding.line, finding.index) == (code, path, 2, 1)
    assert said in finding.message


def test_a_misspelt_field_is_told_and_the_label_is_kept(project: ReviewProject) -> None:
    found = project.bring([label(0, passed=True, inclusion_prop=0.5)])

    assert counts(found) == (1, 1, 0, 0)
    assert only(found).severity == "warning"


def test_findings_stand_in_the_order_of_lines(project: ReviewProject) -> None:
    project.bring([label(0, passed=True)])
    found = project.bring([label(0, passed=False), label(9, passed=True), "{"])

    assert [one.line for one in found.findings] == [1, 2, 3]


def test_a_label_of_no_run_is_about_the_record_alone(project: ReviewProject) -> None:
    alone = {name: value for name, value in label(0, answers=GOOD).items() if name != "run_id"}
    of_turn = {**alone, "answers": says({"turn_1": {"turn_ok": "fine"}}, correct=1)}
    found = project.bring([alone, of_turn, {**alone, "answers": says(correct=7)}])

    assert counts(found) == (3, 1, 0, 2)
    turn, score = found.findings
    assert "name its run" in str(turn.hint)
    assert "name its run" not in str(score.hint)


def test_a_run_can_be_named_for_those_that_name_none(project: ReviewProject) -> None:
    alone = {name: value for name, value in label(0).items() if name != "run_id"}
    of_turn = {**alone, "answers": says({"turn_1": {"turn_ok": "fine"}}, correct=1)}
    found = project.bring([of_turn, {**alone, "record_id": "r2", "passed": True}], run=RUN)

    assert counts(found) == (2, 1, 0, 1)
    assert [row["run_id"] for row in rows(project)] == [RUN]
    with pytest.raises(NotFoundError, match="run_9"):
        project.bring([of_turn], run="run_9")


def test_a_rubric_may_be_named_by_its_id(project: ReviewProject) -> None:
    project.bring([label(0, rubric="desk-v1", answers=GOOD)])
    found = project.bring([label(0, answers=GOOD)])

    assert counts(found) == (1, 0, 1, 0)


def test_an_archived_rubric_takes_labels(project: ReviewProject) -> None:
    project.write("rubrics/desk-v1.json", json.dumps({**QUESTIONS, "status": "archived"}))

    assert counts(project.bring([label(0, answers=GOOD)])) == (1, 1, 0, 0)


def test_what_people_write_is_redacted_before_it_is_kept(project: ReviewProject) -> None:
    given = label(
        0,
        "mo@library.org",
        answers=says(correct=1, note=f"ask mo@library.org about {SECRET}"),
        source={"phone": "+49 30 1234567"},
    )
    found = project.bring([given, {**given, "annotator": "jo@library.org"}])
    first, second = rows(project)

    assert dict(found.redacted) == {"secrets": 2, "email": 2, "phone": 2}
    assert found.renamed == 2
    assert first["answers"]["trace"]["note"] == "ask [redacted:email] about [redacted]"
    assert first["source"] == {"phone": "[redacted:phone]"}
    assert first["annotator"].startswith("person-")
    assert first["annotator"] != second["annotator"]
    assert counts(project.bring([given])) == (1, 0, 1, 0)


def test_a_record_whose_name_was_redacted_is_found_if_it_is_one(tmp_path: Path) -> None:
    project = ReviewProject(tmp_path)
    project.run([response(0, record_id="[redacted:email]"), response(1)])
    found = project.bring([label(0, record_id="mo@library.org", passed=True)])

    assert counts(found) == (1, 1, 0, 0)
    assert [row["record_id"] for row in rows(project)] == ["[redacted:email]"]
    project.close()


def test_records_with_one_name_are_told_apart_by_their_index(tmp_path: Path) -> None:
    project = ReviewProject(tmp_path)
    project.run([response(place, record_id="[redacted:email]") for place in range(2)])
    found = project.bring(
        [label(0, record_id="mo@library.org", passed=True), label(0, record_id="1", passed=True)]
    )

    assert counts(found) == (2, 1, 0, 1)
    assert "name one by its index" in only(found).message
    assert [row["record_id"] for row in rows(project)] == ["1"]
    project.close()


def test_a_record_named_by_its_index_is_kept_under_its_id(project: ReviewProject) -> None:
    project.bring([label(0, record_id="3", passed=True)])

    assert [row["record_id"] for row in rows(project)] == ["r3"]


def test_a_file_without_a_label_is_no_file_of_labels(project: ReviewProject) -> None:
    with pytest.raises(RequestError, match=r"labels\.jsonl holds no label"):
        project.bring(["", "  "])
