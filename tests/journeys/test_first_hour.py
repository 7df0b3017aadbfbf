"""The five journeys of docs/first-hour.md, from our wheel in an empty environment."""

from __future__ import annotations

import csv
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest

from journeys.hotel_model import ENVIRON, answer
from journeys.journey_page import counted, journeys
from real_parts import lack
from servers.in_thread import in_thread
from servers.openai_server import serving

ROOT = Path(__file__).parents[2]
CELLS = Path(__file__).parent / "notebook_cells.py"
JOURNEYS = journeys()
INSTALL = ("-m", "pip", "install", "--quiet", "--no-compile", "--retries", "0", "--timeout", "30")
WAIT_S = 300
Done = subprocess.CompletedProcess[str]


def test_the_page_counts_what_is_typed() -> None:
    typed = {name: (len(one.commands), len(one.cells)) for name, one in JOURNEYS.items()}

    assert typed == counted()
    assert len(typed) == 5


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment, in which pip has installed our wheel and what that needs."""
    folder = tmp_path_factory.mktemp("fresh")
    wheels = folder / "wheels"
    made = (
        ("-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)),
        ("-m", "venv", str(folder / "venv")),
    )
    for words in made:
        subprocess.run((sys.executable, *words), cwd=ROOT, check=True, capture_output=True)
    (wheel,) = wheels.glob("*.whl")
    done = subprocess.run(
        (str(folder / "venv" / "bin" / "python"), *INSTALL, str(wheel), "pytest"),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        lack(f"needs a package index that pip can reach: {done.stderr.strip()[-500:]}")
    return folder / "venv" / "bin"


@pytest.fixture(scope="module")
def model_url() -> Generator[str]:
    with in_thread(serving(answer)) as url:
        yield url


class Newcomer:
    """Writes the files of a journey and types its commands, one after the other."""

    def __init__(self, name: str, folder: Path, programs: Path, url: str) -> None:
        self._folder = folder
        self._programs = programs
        self.journey = JOURNEYS[name]
        clean = {name: value for name, value in os.environ.items() if name[:6] != "PYTHON"}
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self._environ = {**clean, **ENVIRON, "PATH": path, "MODEL_URL": url}
        for place, text in self.journey.files.items():
            (folder / place).parent.mkdir(exist_ok=True)
            (folder / place).write_text(text, encoding="utf-8")
        install, *self._left = self.journey.commands
        assert install.startswith("pip install steelyard")

    def types(self, code: int = 0) -> Done:
        """The next command."""
        return self.runs(*shlex.split(self._left.pop(0)), code=code)

    def runs(self, program: str, *words: str, code: int = 0) -> Done:
        """A program of the environment."""
        done = subprocess.run(
            (str(self._programs / program), *words),
            cwd=self._folder,
            env=self._environ,
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT_S,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def is_through(self) -> bool:
        """Whether all was typed."""
        return not self._left


@pytest.fixture
def newcomer(
    request: pytest.FixtureRequest, tmp_path: Path, environment: Path, model_url: str
) -> Generator[Newcomer]:
    found = Newcomer(request.param, tmp_path, environment, model_url)
    yield found
    assert found.is_through()


@pytest.mark.trials
@pytest.mark.parametrize("newcomer", ["two-prompts-and-a-table"], indirect=True)
def test_two_prompts_are_compared_in_one_command(newcomer: Newcomer) -> None:
    run = newcomer.types()

    assert "pass rate  66.7 %" in run.stdout
    assert "pass rate  100.0 %" in run.stdout
    assert "live+polite.md  no difference detectable  +33.3 points" in run.stdout


@pytest.mark.trials
@pytest.mark.parametrize("newcomer", ["a-promptfoo-project"], indirect=True)
def test_a_promptfoo_project_is_converted_run_and_compared(newcomer: Newcomer) -> None:
    convert, run = newcomer.types(), newcomer.types()

    assert "3 read = 3 written" in convert.stderr
    assert newcomer.journey.commands[2] in convert.stderr
    assert "compared with" in run.stdout


@pytest.mark.trials
@pytest.mark.parametrize("newcomer", ["a-notebook-then-a-test"], indirect=True)
def test_a_notebook_shows_a_run_and_pytest_runs_the_test(
    newcomer: Newcomer, tmp_path: Path
) -> None:
    cells = tmp_path / "cells.json"
    cells.write_text(json.dumps(newcomer.journey.cells), encoding="utf-8")
    shown = newcomer.runs("python", str(CELLS), str(cells)).stdout
    tested = newcomer.types()

    assert "50.0 %" in shown
    assert "What is the capital of Italy?" in shown
    assert "1 passed" in tested.stdout


@pytest.mark.trials
@pytest.mark.parametrize("newcomer", ["a-gate-in-ci"], indirect=True)
def test_a_gate_passes_fails_and_leaves_reports(newcomer: Newcomer, tmp_path: Path) -> None:
    run, compare = map(shlex.split, newcomer.journey.commands[1:])
    newcomer.types()
    (first,) = (tmp_path / ".steelyard" / "runs").iterdir()
    shutil.copytree(first, tmp_path / "baseline")
    itself = newcomer.runs(*compare, code=2)
    newcomer.runs(*run)
    newcomer.types()
    passed = _reports(tmp_path)
    _ask_rudely(tmp_path / "steelyard.yaml")
    failed = newcomer.runs(*run, code=1)
    newcomer.runs(*compare)
    compared = newcomer.runs(*compare[:-4], "--fail-if", "worse by 2", *compare[-2:], code=1)
    rude = _reports(tmp_path)

    assert "cannot compare a run with itself" in itself.stderr
    assert passed.counts == ("4", "0")
    assert "gate passed: 'worse'" in passed.comparison
    assert "3 records are too few to show any difference" in passed.comparison
    assert "gate failed" in failed.stderr
    assert rude.counts == ("4", "2")
    assert "gate failed: B may be worse by 2 points or more" in compared.stderr
    assert "gate failed" in rude.comparison
    assert "Is there a lift?" in rude.comparison


class Reports(NamedTuple):
    """What the commands of CI left."""

    counts: tuple[str | None, str | None]
    """Tests and failures."""
    comparison: str


def _reports(folder: Path) -> Reports:
    suite = ET.parse(folder / "run.xml").getroot()[0]
    comparison = (folder / "compare.md").read_text(encoding="utf-8")
    return Reports((suite.get("tests"), suite.get("failures")), comparison)


def _ask_rudely(settings: Path) -> None:
    """The change of a pull request: another prompt of the target."""
    text = settings.read_text(encoding="utf-8")
    prompt = 'live: {prompt: "Answer in one sentence: {{input}}", '
    settings.write_text(text.replace("live: {", prompt), encoding="utf-8")


@pytest.mark.trials
@pytest.mark.parametrize("newcomer", ["labels-in-a-spreadsheet"], indirect=True)
def test_labels_of_a_spreadsheet_are_compared_with_the_judge(
    newcomer: Newcomer, tmp_path: Path
) -> None:
    newcomer.types()
    newcomer.types()
    table = tmp_path / "to_label.csv"
    with table.open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        for row, said in zip(rows, ("yes", "yes", "no"), strict=True):
            writer.writerow({**row, "passed": said})
    imported, agreement = newcomer.types(), newcomer.types()

    assert "3 label(s) read = 3 imported" in imported.stdout + imported.stderr
    assert "66.7 %" in agreement.stdout
