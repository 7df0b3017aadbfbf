"""A project's folder may hold files that are called as our libraries are: none is executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from fakes.projects import row

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
NAMES = ("sqlalchemy", "msgspec", "typer", "yaml", "re2", "uvloop", "steelyard", "logging")
PLANTED = "from pathlib import Path; Path(__file__).with_name('executed').touch()\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A dataset among modules that tell when they are executed."""
    rows = (json.dumps(row(f"r{number}", input="yes")) + "\n" for number in range(20))
    (tmp_path / "d.jsonl").write_text("".join(rows), encoding="utf-8")
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(PLANTED, encoding="utf-8")
    return tmp_path


def test_workers_execute_nothing_of_the_project(steelyard: Steelyard, project: Path) -> None:
    done = steelyard("run", "d.jsonl", "--target", "echo", "--workers", "2", cwd=project)

    assert (done.returncode, (project / "executed").exists()) == (0, False), done.stderr


def test_a_python_target_leaves_installed_modules_alone(
    steelyard: Steelyard, project: Path
) -> None:
    (project / "agent.py").write_text("def answer(prompt): return 'yes'\n", encoding="utf-8")
    text = 'targets: {agent: {provider: python, callable: "agent:answer"}}\n'
    (project / "steelyard.yaml").write_text(text, encoding="utf-8")
    done = steelyard("run", "d.jsonl", "--target", "agent", "--workers", "2", cwd=project)

    assert (done.returncode, (project / "executed").exists()) == (0, False), done.stderr


def test_python_m_steelyard_executes_nothing_of_the_project(project: Path) -> None:
    (project / "steelyard.py").unlink()  # which `python -m steelyard` itself asks for
    words = [sys.executable, "-m", "steelyard", "validate", "d.jsonl"]
    done = subprocess.run(words, cwd=project, env=dict(os.environ), check=False)

    assert (done.returncode, (project / "executed").exists()) == (0, False)
