"""What a newcomer reads first is true: the pages' commands and code do what they say."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import steelyard as package
from servers.service import running
from steelyard.pytest_plugin import Steelyard as Fixture
from steelyard.usecases.init import scaffold
from steelyard.usecases.runs.evaluate import Run

if TYPE_CHECKING:
    import pytest

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

DOCS = Path(__file__).parents[2] / "docs"
FIRST_RUN = (DOCS / "first-run.md").read_text(encoding="utf-8")
FROM_PYTHON = (DOCS / "python.md").read_text(encoding="utf-8")


def blocks(page: str, language: str = "") -> list[str]:
    """The blocks of a language on a page, or those without one."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def test_the_commands_of_the_first_run_work_and_print_what_the_page_says(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    folder, said = tmp_path, ""
    for block in blocks(FIRST_RUN.partition("## 7.")[0]):
        if not block.startswith("steelyard "):
            assert block in said
            continue
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            if words[0] == "cd":
                folder /= words[1]
                continue
            done = steelyard(*words[1:], cwd=folder)
            said = done.stdout

            assert done.returncode == 0, (line, done.stderr)
    assert {path.name for path in folder.glob("run.*")} == {"run.html", "run.csv"}


def test_the_code_of_the_page_about_python_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scaffold(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with package.open_project(tmp_path) as project, running(project) as url:
        for code in blocks(FROM_PYTHON, "python"):
            served = code.replace("http://127.0.0.1:8765", url)
            exec(compile(served, "python.md", "exec"), names)
    printed = capsys.readouterr().out
    test: Callable[[Fixture], None] = names["test_the_bot_greets"]
    test(Fixture(tmp_path))
    [mark] = [one for one in names["test_every_case"].pytestmark if one.name == "parametrize"]
    each: Callable[[package.Case, Fixture], None] = names["test_every_case"]
    for param in mark.args[1]:
        each(param.values[0], Fixture(tmp_path))

    assert printed.startswith("completed 1.0\n")
    assert "capital evaluated 1.0 " in printed
    assert "['row-0001', 'row-0002'] ('Paris',)\n" in printed
    assert "row-0002 False names_the_answer: does not name Rome\n" in printed
    assert "unknown target 'assistent'; targets of this project: live" in printed
    assert names["run"].metrics.total_records == 1


def test_the_page_about_python_names_all_there_is() -> None:
    public = [name for name in vars(Run) if not name.startswith("_")]
    missing = [
        name
        for name in (*package.__all__, *public, *vars(Fixture))
        if not name.startswith("_") and not re.search(rf"\b{name}\b", FROM_PYTHON)
    ]

    assert missing == []
