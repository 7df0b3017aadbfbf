"""The example of a check that another package brings: built, installed and used for real."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from steelyard.model.case import Case
from strategies.traces import said

EXAMPLE = Path(__file__).parents[2] / "examples" / "check_plugin"
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in a folder of its own, with its package built and unpacked beside it."""
    root = tmp_path_factory.mktemp("plugin")
    made = shutil.copytree(
        EXAMPLE, root / "project", ignore=shutil.ignore_patterns(".steelyard", "__pycache__")
    )
    built = subprocess.run(
        [sys.executable, "-c", BUILD, str(root)],
        cwd=made,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    # An installer does the same: a wheel is unpacked where Python looks for packages.
    with ZipFile(root / built.stdout.split()[-1]) as wheel:
        wheel.extractall(root / "installed")
    return made


def steelyard(project: Path, *words: str, is_installed: bool = True) -> tuple[int, str]:
    """What a command exits with and says, with the package installed or not."""
    installed = str(project.parent / "installed") if is_installed else ""
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", *words],
        cwd=project,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": installed, "PYTHONSAFEPATH": "1"},
    )
    return done.returncode, done.stdout


def test_a_rubric_with_the_kind_is_valid_where_the_package_is_installed(project: Path) -> None:
    code, told = steelyard(project, "validate", "rubrics", "--strict")

    assert (code, "1 of 1 file(s) valid" in told) == (0, True)


def test_without_the_package_the_kind_is_unknown(project: Path) -> None:
    code, told = steelyard(project, "validate", "rubrics", is_installed=False)

    assert code == 1
    assert "not 'sentence_length'" in told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("max_words: 12", "max_word: 12", "did you mean 'max_words'?"),
        ("max_words: 12", "max_words: 0", "must be at least 1"),
        ("max_words: 12", "max_words: few", "must be an integer"),
    ],
)
def test_its_settings_are_checked_like_those_of_any_kind(
    project: Path, before: str, after: str, told: str
) -> None:
    text = (project / "rubrics/plain_language.yaml").read_text(encoding="utf-8")
    (project / "other.yaml").write_text(text.replace(before, after), encoding="utf-8")
    code, said_ = steelyard(project, "validate", "other.yaml", "--strict")

    assert (code, told in said_) == (1, True)


def test_a_run_grades_with_it(project: Path) -> None:
    code, told = steelyard(project, "run", "--suite", "letters", "--format", "json")
    run = json.loads(told)
    lines = (Path(run["artifacts"]) / "predictions.jsonl").read_text("utf-8").splitlines()
    short, long = (json.loads(line)["evaluator_scores"][0] for line in lines)

    assert code == 0
    assert (short["kind"], short["passed"]) == ("sentence_length", True)
    assert (long["passed"], long["reason"]) == (False, "1 of 1 sentence(s) over 12 words")


def test_the_check_works_on_its_own(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(project.parent / "installed"), *sys.path])
    check: Any = import_module("sentence_length").SentenceLength(max_words=3)

    assert check.check(said("One two three. Four!"), Case(id="a")).passed
    assert check.check(said("One two three four. Five."), Case(id="a")).score == 0.5
    assert check.check(said(" "), Case(id="a")).status == "skipped"
