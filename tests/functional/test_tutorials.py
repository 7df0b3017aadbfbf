"""Whoever types what a tutorial shows gets what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

from servers.in_thread import in_thread
from servers.museum_desk import ENVIRON, answer
from servers.openai_server import serving

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = sorted(DOCS.glob("tutorial-*.md"))
BLOCK = re.compile(
    r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^(?P<typed>.+?)(?:\s+# exit (?P<code>\d))?$")
OF_OPENAI = "https://api.openai.com/v1"


class Block(NamedTuple):
    """A file to write, commands to type, a cell to run, or what is printed then."""

    file: str | None
    kind: str
    text: str


def blocks(page: Path) -> list[Block]:
    """What stands on a page to be done, in its order."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["file"], one["kind"], one["text"]) for one in found]


class Reader:
    """Does what a page says, in a folder."""

    def __init__(self, folder: Path, steelyard: Steelyard, url: str) -> None:
        self._folder = folder
        self._steelyard = steelyard
        self._environ = {**ENVIRON, "MODEL_URL": url, "OPENAI_API_KEY": ENVIRON["MODEL_KEY"]}
        self._names: dict[str, Any] = {}

    def writes(self, name: str, text: str) -> None:
        """A file of the page."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def types(self, line: str) -> str:
        """A line in the shell; what it printed."""
        found = COMMAND.match(line)
        assert found
        typed, code = found["typed"], int(found["code"] or 0)
        if typed.startswith(("pip install steelyard", "export ")):
            return ""
        done = self._run(typed)
        assert done.returncode == code, (typed, done.stdout, done.stderr)
        self._knows_its_model()
        return done.stdout + done.stderr

    def _run(self, typed: str) -> subprocess.CompletedProcess[str]:
        program, *words = shlex.split(typed)
        if program == "steelyard":
            return self._steelyard(*words, cwd=self._folder, env=self._environ)
        if program == "pytest":
            typed = f"{sys.executable} -m {typed} -p no:cacheprovider"
        shell = ["bash", "-c", typed]
        return subprocess.run(
            shell, cwd=self._folder, capture_output=True, encoding="utf-8", check=False
        )

    def _knows_its_model(self) -> None:
        """A project file that was just made names the service itself."""
        file = self._folder / "steelyard.yaml"
        if file.exists():
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(OF_OPENAI, self._environ["MODEL_URL"]), encoding="utf-8")

    def runs(self, cell: str) -> None:
        """A cell of a notebook."""
        exec(compile(cell, "cell", "exec"), self._names)


@pytest.fixture(scope="module")
def model_url() -> Generator[str]:
    with in_thread(serving(answer)) as url:
        yield url


def missing(shown: str, said: str) -> list[str]:
    """The lines that were not printed; `…` stands for anything."""
    lines = [line.split("…") for line in shown.splitlines() if line.strip()]
    return ["…".join(parts) for parts in lines if not all(part in said for part in parts)]


def test_there_is_a_tutorial_for_everybody() -> None:
    names = [page.stem.removeprefix("tutorial-") for page in TUTORIALS]

    assert names == ["ci", "labels", "notebook", "promptfoo", "table"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_first_command_installs_the_package(page: Path) -> None:
    typed = [line for one in blocks(page) if one.kind == "sh" for line in one.text.splitlines()]

    assert typed[0].startswith("pip install steelyard")


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steelyard: Steelyard, model_url: str
) -> Reader:
    monkeypatch.chdir(tmp_path)
    return Reader(tmp_path, steelyard, model_url)


@pytest.mark.trials
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_shows(
    page: Path, reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    follow(blocks(page), reader, capsys)


def test_a_tutorial_of_cells_prints_what_it_shows(
    reader: Reader, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = blocks(DOCS / "tutorial-notebook.md")
    follow(steps[: [bool(one.file) for one in steps].index(True)], reader, capsys)


def follow(steps: list[Block], reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
    """Do what stands there, and look for what should appear."""
    said = ""
    for step in steps:
        if step.file:
            reader.writes(step.file, step.text)
        elif step.kind == "sh":
            said = "".join(reader.types(line) for line in step.text.splitlines())
        elif step.kind == "python":
            capsys.readouterr()
            reader.runs(step.text)
            said = capsys.readouterr().out
        else:
            assert missing(step.text, said) == []
