"""A sample as a sheet: what was asked and answered, and nothing of a verdict."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.reviews import DESK, RUN, ReviewProject, check, response
from steelyard.model.labels.assignment import Assignment, AssignmentChoice
from steelyard.reports.html.sheet_text import sheet_html, sheet_markdown
from steelyard.usecases.review.assign import AssignmentRequest, assign
from steelyard.usecases.review.sheets import design_path, design_rows, make_sheet, sheet_csv

ASKED = {"sent": True, "messages": [{"role": "user", "content": "=1+1 ``` <b>?"}]}
TRACE: dict[str, Any] = {
    "messages": [
        {"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "1", "tool": "find", "input": {"q": "x"}, "output": "gone"}]},
        {"role": "assistant", "content": "Done."},
    ]
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Iterator[ReviewProject]:
    """A project with a run whose verdicts say a word that no sheet may have."""
    made = ReviewProject(tmp_path)
    more = {"target": "desk", "model_response": None, "response_source": None}
    graded = check(passed=True, reason="splendid")
    rows = [response(0, graded, request=ASKED, trace=TRACE, reason="splendid", **more)]
    rows.append(response(1, graded, passed=False, score=0.0, reason="splendid", **more))
    made.run(rows)
    yield made
    made.close()


def drawn(project: ReviewProject) -> Assignment:
    choice = AssignmentChoice(count=2, by="stratified")
    return assign(project.ports, AssignmentRequest(run=RUN, choice=choice))


def test_a_table_has_a_column_for_every_question_of_trace_and_turns(
    project: ReviewProject,
) -> None:
    sheet = make_sheet(project.ports, RUN, drawn(project), ("ann", "bob"))
    header, first, *others = csv.reader(io.StringIO("".join(sheet_csv(sheet))))

    assert header[:4] == ["record_id", "annotator", "question", "answer"]
    assert header[4] == "correct"
    assert {"turn_1", "turn_2"} == {name.split(".")[0] for name in header if "." in name}
    assert first[:3] == ["r0", "ann", "'=1+1 ``` <b>?"]
    assert 'called find({"q": "x"}) → gone' in first[3]
    assert {cell for row in (first, *others) for cell in row[4:]} == {""}
    assert [row[1] for row in (first, *others)] == ["ann", "ann", "bob", "bob"]


def test_no_form_of_a_sheet_says_what_a_judge_said(project: ReviewProject) -> None:
    sheet = make_sheet(project.ports, RUN, drawn(project), ())
    texts = ["".join(sheet_csv(sheet)), "\n".join(sheet_markdown(sheet)), sheet_html(sheet)]

    for text in texts:
        assert "splendid" not in text
        assert "r0" in text
        assert "I look." in text
    assert "<b>?" not in texts[2]
    assert "````\n=1+1 ``` <b>?\n````" in texts[1]


def test_the_design_is_written_beside_the_sheet(project: ReviewProject) -> None:
    rows = list(design_rows(drawn(project)))

    assert design_path(Path("out/s.csv")) == Path("out/s.design.jsonl")
    assert {(row["record_id"], row["stratum"]) for row in rows} == {
        ("r0", "passed"),
        ("r1", "failed"),
    }
    assert {(row["rubric"], row["exposure"], row["run_id"]) for row in rows} == {
        (DESK, "blind", RUN)
    }
    assert not any("annotator" in row for row in rows)


def test_without_questions_people_say_pass_or_fail(project: ReviewProject) -> None:
    choice = AssignmentChoice(count=1)
    request = AssignmentRequest(run=RUN, choice=choice, rubric="is it polite?")
    sheet = make_sheet(project.ports, RUN, assign(project.ports, request), ("ann",))

    assert sheet.answer_columns == ("passed",)
