"""References across a project, as a user meets them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.many_commands import Done, run_many

EXAMPLE = Path(__file__).parents[2] / "examples" / "question_set"
VALIDATE = ("validate", "--format", "json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "project"))


def run(project: Path, *commands: Sequence[str]) -> list[Done]:
    return run_many(project, commands)


def findings(done: Done) -> list[tuple[str, str, str, int | None]]:
    report: dict[str, Any] = json.loads(done.stdout)
    return [
        (found["severity"], found["code"], found["path"], found["line"])
        for file in report["files"]
        for found in file["findings"]
    ]


def test_the_example_is_right_even_in_strict_mode(project: Path) -> None:
    (done,) = run(project, (*VALIDATE, "--strict", "."))

    assert findings(done) == []
    assert done.code == 0
    contracts = {file["contract"] for file in json.loads(done.stdout)["files"]}
    assert contracts == {"question_set", "check_rubric", "judge"}


def test_a_missing_rubric_is_found_from_any_folder(project: Path) -> None:
    """QS-12"""
    (project / "rubrics" / "grounded.yaml").unlink()
    here, inside = (
        run_many(folder, [(*VALIDATE, name)])[0]
        for folder, name in ((project, "library.yaml"), (project / "rubrics", "../library.yaml"))
    )
    told = [("error", "dangling_reference", "questions[2].rubric_ref", 30)]

    assert findings(here) == findings(inside) == told
    assert (here.code, inside.code) == (1, 1)


def test_strict_mode_takes_no_missing_pin(project: Path) -> None:
    """QS-13"""
    path = project / "library.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("quality@1.2", "quality"))
    soft, strict = run(
        project, (*VALIDATE, "library.yaml"), (*VALIDATE, "library.yaml", "--strict")
    )
    place = ("unpinned_reference", "questions[0].rubric_ref", 10)

    assert (soft.code, findings(soft)) == (0, [("warning", *place)])
    assert (strict.code, findings(strict)) == (1, [("error", *place)])


def test_a_broken_file_that_nothing_refers_to_stops_nothing(project: Path) -> None:
    """CR-23"""
    (project / "rubrics" / "broken.yaml").write_text("{")
    (project / "judges" / "broken.yaml").write_text("id: [")
    (done,) = run(project, (*VALIDATE, "library.yaml"))

    assert (done.code, findings(done)) == (0, [])


def test_a_run_refuses_a_rubric_whose_judge_has_no_target(project: Path) -> None:
    """CR-11"""
    (done,) = run(project, ("run", "library.yaml", "--target", "echo", "--rubric", "judged@1.0"))

    assert done.code == 2
    assert "rubric/judged@1.0.0 asks judge/answers_the_question@1.1.0" in done.stderr
    assert "judges.default.target" in done.stderr
