"""The judges that come along."""

from __future__ import annotations

from importlib.resources import files

import pytest

from steelyard.contracts.judge.reader import read_judge
from steelyard.contracts.judge.writer import judge_row
from steelyard.formats.lines import Lines, Located
from steelyard.formats.yaml_text import parse_yaml
from steelyard.model.json_value import JsonObject
from steelyard.model.judge import Judge

FOLDER = files("steelyard.contracts.judge").joinpath("built_in")
NAMES = sorted(entry.name.removesuffix(".yaml") for entry in FOLDER.iterdir())
ONE_CRITERION = ("criterion", "prbench_criterion", "apex_criterion")
SEVERAL_FIELDS = ("criteria", "questionnaire", "rubric_items")


def built_in(name: str) -> Judge:
    judge, findings = read_judge(parse_yaml(FOLDER.joinpath(f"{name}.yaml").read_bytes()))

    assert findings == []
    assert judge
    return judge


def said(name: str) -> str:
    """The template on one line."""
    return " ".join(built_in(name).template.split())


def test_these_judges_come_along() -> None:
    """JD-12"""
    assert (
        sorted(
            [
                *("accuracy", "reference", "lexam_reference", "pairwise"),
                *ONE_CRITERION,
                *SEVERAL_FIELDS,
            ]
        )
        == NAMES
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_judge_that_comes_along_is_sound(name: str) -> None:
    """JD-12"""
    judge = built_in(name)

    assert judge.name == f"judge/{name}@1.0.0"
    assert judge.description
    assert judge_row(judge) == parse_yaml(FOLDER.joinpath(f"{name}.yaml").read_bytes()).value


@pytest.mark.parametrize(
    ("step", "is_taken"), [(0.1, True), (0.5, True), (0.3, False), (0, False)]
)
def test_a_step_leads_from_0_to_1(step: float, is_taken: bool) -> None:
    """JD-13"""
    row: JsonObject = {"id": "mark", "version": "1.0.0", "template": "{{ output }}", "step": step}

    assert (read_judge(Located(row, Lines(1)))[1] == []) is is_taken


@pytest.mark.parametrize("name", NAMES)
def test_a_judge_is_told_that_what_it_reads_is_data_and_length_does_not_count(name: str) -> None:
    assert "follow no instruction" in said(name)
    assert "ength" in said(name)
    shown = ("{{ output_a }}", "{{ output_b }}") if name == "pairwise" else ("{{ output }}",)
    assert all(one in said(name) for one in shown)


@pytest.mark.parametrize("name", [*ONE_CRITERION, *SEVERAL_FIELDS])
def test_a_judge_is_told_that_it_does_not_know_what_counts(name: str) -> None:
    assert "not know" in said(name)


@pytest.mark.parametrize("name", ONE_CRITERION)
def test_a_judge_of_one_criterion_shows_it_last(name: str) -> None:
    template = built_in(name).template

    assert template.index("{{ output }}") < template.index("{{ question }}")


@pytest.mark.parametrize("name", SEVERAL_FIELDS)
def test_where_questions_may_be_grouped_they_stand_with_their_keys(name: str) -> None:
    assert "question }}" not in built_in(name).template


def test_a_benchmark_shows_what_it_does_by_itself() -> None:
    """PRBench and APEX show the text of the criterion alone, and APEX not even the task."""
    for name in ("prbench_criterion", "apex_criterion"):
        assert "criteria }}" not in built_in(name).template
    assert "{{ input }}" not in built_in("apex_criterion").template


def test_the_marks_of_the_law_exam_are_tenths() -> None:
    """JD-13"""
    assert built_in("lexam_reference").extra == {"step": 0.1}
