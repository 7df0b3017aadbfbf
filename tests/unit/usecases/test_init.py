"""A new project: what it holds can be used at once, and nothing is overwritten."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.metrics import measured
from fakes.projects import Project
from steelyard.errors import RequestError
from steelyard.library import read_dataset
from steelyard.usecases.init import scaffold, unignored


def test_the_files_of_a_new_project_are_valid(tmp_path: Path) -> None:
    made = scaffold(tmp_path / "new")
    dataset, findings = read_dataset(tmp_path / "new" / "datasets" / "first.yaml")

    files = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert sorted(made) == sorted(files) != []
    assert (len(dataset.cases), list(findings)) == (2, [])


def test_a_new_project_can_be_run_at_once(tmp_path: Path) -> None:
    scaffold(tmp_path)
    project = Project(tmp_path, (tmp_path / "steelyard.yaml").read_text(encoding="utf-8"))
    run = project.run(project.ports(), Path("datasets/first.yaml"), target="echo", rubric="first")
    project.close()

    assert (run.status, measured(run).pass_count) == ("completed", 2)


def test_without_the_rubric_it_is_said_that_a_judge_needs_a_target(tmp_path: Path) -> None:
    scaffold(tmp_path)
    project = Project(tmp_path, (tmp_path / "steelyard.yaml").read_text(encoding="utf-8"))

    with pytest.raises(RequestError) as caught:
        project.run(project.ports(), Path("datasets/first.yaml"), target="echo")
    project.close()

    assert str(caught.value) == (
        "the records' own expectations are graded by judge/accuracy@1.0.0, which has no target: "
        "set judges.accuracy.target or judges.default.target in steelyard.yaml, or name a rubric "
        "that asks no judge"
    )


@pytest.mark.parametrize("name", ["steelyard.yaml", "rubrics/first.yaml"])
def test_what_is_there_already_is_left_alone_and_nothing_is_written(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")

    with pytest.raises(RequestError, match=r"exists already; name another folder, or remove it"):
        scaffold(tmp_path)
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == [path]
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("lines", "is_lacking"),
    [
        ("", True),
        ("build/\n.steelyard.old\n", True),
        (".steelyard/", False),
        ("a\n/.steelyard/", False),
    ],
)
def test_a_gitignore_is_left_as_it_is(tmp_path: Path, lines: str, is_lacking: bool) -> None:
    path = tmp_path / ".gitignore"
    path.write_text(lines, encoding="utf-8")

    assert path not in scaffold(tmp_path)
    assert path.read_text(encoding="utf-8") == lines
    assert unignored(tmp_path) == (path if is_lacking else None)


def test_the_results_of_a_new_project_stay_out_of_a_repository(tmp_path: Path) -> None:
    scaffold(tmp_path)

    assert unignored(tmp_path) is None
