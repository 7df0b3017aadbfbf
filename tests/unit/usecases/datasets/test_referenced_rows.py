"""Rows that are also checked for the rubrics they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.definitions import DefinitionProject, asks
from steelyard.contracts.question_set.contract import QUESTION_SET
from steelyard.contracts.question_set.reader import QuestionSetReading
from steelyard.contracts.reading import DatasetReading, Row
from steelyard.formats.yaml_text import parse_yaml
from steelyard.usecases.datasets.referenced_rows import ReferencedReading, with_references
from steelyard.usecases.registry.references import References
from steelyard.usecases.runs.in_memory import DatasetInMemory

OLD = "validation: {validated_at: 2026-01-15}\n"


@pytest.fixture
def project(tmp_path: Path) -> DefinitionProject:
    made = DefinitionProject(tmp_path)
    made.rubric("basic@1.0.0")
    made.judge("tone@1.0.0", OLD + "applicable_to: [faq]\n")
    made.rubric("asking@1.0.0", asks("judge/tone@1.0"))
    return made


def reading(project: DefinitionProject, *questions: Any) -> DatasetReading:
    rows = [{"id": f"q{n}", "input": "?", **more} for n, more in enumerate(questions)]
    content = parse_yaml(json.dumps({"questions": rows}).encode())
    references = project.references
    return with_references(QuestionSetReading(content, "data"), lambda: references)


def told(row: Row) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in row.findings]


def ref(name: str, **more: Any) -> dict[str, Any]:
    return {"rubric_ref": f"rubric/{name}", **more}


def test_a_reference_that_leads_somewhere_changes_nothing(project: DefinitionProject) -> None:
    """QS-12"""
    rows = list(reading(project, ref("basic@1.0"), {}).rows())

    assert [told(row) for row in rows] == [[], []]


def test_a_reference_that_leads_nowhere_rejects_its_row_alone(
    project: DefinitionProject,
) -> None:
    """QS-12"""
    first, second = reading(project, ref("gone@1.0"), ref("basic@1.0")).rows()
    (finding,) = first.findings

    assert (first.is_accepted, second.is_accepted) == (False, True)
    assert (finding.code, finding.path) == ("dangling_reference", "questions[0].rubric_ref")
    assert (finding.index, finding.record_id, finding.line) == (0, "q0", 1)
    assert finding.message == (
        "rubric_ref: cannot resolve rubric/gone@1.0: there is no rubric of that id"
    )


def test_a_missing_pin_is_told_at_every_row(project: DefinitionProject) -> None:
    """QS-13"""
    rows = list(reading(project, ref("basic"), ref("basic")).rows())

    assert [told(row) for row in rows] == [[("warning", "unpinned_reference")]] * 2
    assert all(row.is_accepted for row in rows)


def test_a_judge_out_of_scope_is_told_at_every_row_and_a_stale_one_once(
    project: DefinitionProject,
) -> None:
    """QS-14"""
    asked = [ref("asking@1.0", bundle=bundle) for bundle in ("faq", "rag", "rag")]
    again = reading(project, *asked)
    scope, stale = ("warning", "out_of_scope_judge"), ("warning", "stale_validation")

    for _ in range(2):
        assert [told(row) for row in again.rows()] == [[stale], [scope], [scope]]


def test_what_is_wrong_already_is_not_looked_up(project: DefinitionProject) -> None:
    rows = list(reading(project, {"rubric_ref": 7}, {"rubric_ref": "basic"}, None or {}).rows())

    assert [told(row) for row in rows] == [
        [("error", "invalid_field_type")],
        [("error", "value_out_of_range")],
        [],
    ]


def test_a_row_that_is_no_object_stays_what_it_is(project: DefinitionProject) -> None:
    content = parse_yaml(b"questions: [7]")
    references = project.references
    (row,) = with_references(QuestionSetReading(content, "data"), lambda: references).rows()

    assert told(row) == [("error", "invalid_field_type")]


def test_everything_else_is_that_of_the_question_set(project: DefinitionProject) -> None:
    again = reading(project, ref("basic@1.0", metadata={"a": 1}))
    (row,) = again.rows()
    case = again.case(row)

    assert isinstance(again, ReferencedReading)
    assert (again.contract, again.findings, again.is_spoiled) == ("question_set", (), False)
    assert case.rubric_ref == "rubric/basic@1.0"
    assert again.hashed(row, case) == row.value
    assert again.dataset((case,)).cases == (case,)


def no_project() -> References:
    raise AssertionError("the project was looked at")


def test_a_project_is_not_looked_at_without_a_reference() -> None:
    content = parse_yaml(b"questions: [{id: a, input: b}]")
    found = with_references(QuestionSetReading(content, "data"), no_project)

    assert [row.findings for row in found.rows()] == [()]


def test_another_dataset_comes_back_as_it_is() -> None:
    content = QuestionSetReading(parse_yaml(b"questions: []"), "data")
    other = DatasetInMemory(content.dataset(()), QUESTION_SET)

    assert with_references(other, no_project) is other
