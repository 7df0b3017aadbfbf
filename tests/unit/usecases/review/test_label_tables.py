"""Labels from spreadsheets: what a table does not say is asked for, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.reviews import DESK, RUN, ReviewProject, response
from steelyard.errors import InvalidError, UnreadableFileError
from steelyard.model.labels.annotation import Wanted

KNOWN: dict[str, Any] = {"rubric": DESK, "annotator": "ann", "exposure": "blind", "run": RUN}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project with a run of four responses."""
    made = ReviewProject(tmp_path)
    made.run([response(place) for place in range(4)])
    yield made
    made.close()


def kept(project: ReviewProject) -> list[Any]:
    return [revision.row for revision in project.store.all(Wanted())]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_tables_of_any_spreadsheet_are_read(project: ReviewProject, sign: str, bom: str) -> None:
    lines = (("id", "correct", "notes"), ("r0", "yes", "fine"), ("r1", "0", ""), ("r2", "", ""))
    found = project.bring_table(bom + "".join(f"{sign.join(one)}\r\n" for one in lines), **KNOWN)

    assert (found.read, found.imported, found.unfilled) == (2, 2, 1)
    first, second = kept(project)
    assert (first["answers"], first["notes"]) == ({"trace": {"correct": 1}, "turns": {}}, "fine")
    assert second["answers"] == {"trace": {"correct": 0}, "turns": {}}
    assert (first["run_id"], first["annotator"], first["exposure"]) == (RUN, "ann", "blind")


def test_columns_can_be_called_otherwise(project: ReviewProject) -> None:
    text = "Case,Good?,Who\nr0,yes,bob\n"
    names = {"record_id": "Case", "passed": "Good?", "annotator": "Who"}
    project.bring_table(text, names=names, rubric="verdict", exposure="blind", run=RUN)

    (row,) = kept(project)
    assert (row["record_id"], row["passed"], row["annotator"]) == ("r0", True, "bob")


def test_a_wrong_cell_is_refused_with_its_line_and_the_others_are_kept(
    project: ReviewProject,
) -> None:
    found = project.bring_table("record_id,correct\nr0,perhaps\nr1,yes\nr9,yes\n", **KNOWN)

    assert (found.imported, found.refused) == (1, 2)
    assert [(one.line, one.path) for one in found.findings] == [
        (2, "answers.trace.correct"),
        (4, "answers"),
    ]


def test_a_row_of_another_length_is_refused(project: ReviewProject) -> None:
    found = project.bring_table("record_id,correct\nr0,yes,more\nr1,yes\n", **KNOWN)

    assert (found.imported, found.refused) == (1, 1)
    assert "3 cells" in found.findings[0].message


@pytest.mark.parametrize(
    ("text", "without", "message"),
    [
        ("correct\nyes\n", "", "no column 'record_id'"),
        ("recordid,correct\nr0,yes\n", "", "did you mean"),
        ("record_id,correct\nr0,yes\n", "annotator", "no column 'annotator'"),
        ("record_id,correct\nr0,yes\n", "exposure", "saw the judge's verdict"),
        ("record_id,remarks\nr0,yes\n", "", "no column holds a label"),
        ("record_id,correct\nr0,\n", "", "none of its 1 rows is filled in"),
    ],
)
def test_a_table_that_does_not_say_enough_is_refused(
    project: ReviewProject, text: str, without: str, message: str
) -> None:
    known = {name: value for name, value in KNOWN.items() if name != without}

    with pytest.raises(InvalidError, match=message):
        project.bring_table(text, **known)
    assert kept(project) == []


def test_a_column_that_is_not_there_is_named(project: ReviewProject) -> None:
    with pytest.raises(InvalidError, match="there is no column 'Good'; there are 'record_id'"):
        project.bring_table("record_id\nr0\n", names={"passed": "Good"}, **KNOWN)


def test_a_question_that_the_rubric_does_not_have_is_named(project: ReviewProject) -> None:
    with pytest.raises(InvalidError, match="has no question 'corect'; did you mean 'correct'"):
        project.bring_table("record_id,Good?\nr0,yes\n", names={"corect": "Good?"}, **KNOWN)


def test_a_file_that_is_no_table_is_an_error(project: ReviewProject) -> None:
    with pytest.raises(UnreadableFileError, match="line 1: two columns are called 'a'"):
        project.bring_table("a,a\n1,2\n", **KNOWN)


def test_how_records_were_chosen_comes_from_the_file_beside_the_sheet(
    project: ReviewProject,
) -> None:
    design = {("r0", 0): {"run_id": RUN, "rubric": DESK, "exposure": "blind"}}
    design["r0", 0]["inclusion_prob"] = 0.25  # type: ignore[assignment]
    project.bring_table("record_id,annotator,correct\nr0,ann,yes\n", design=design)

    (row,) = kept(project)
    assert (row["inclusion_prob"], row["rubric"], row["run_id"]) == (0.25, DESK, RUN)
