"""Packages and modules of a user's that break or end the program: no success, and no bug."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]
CASE = {"id": "a", "input": "x", "expected_outcome": "x", "expected_output": "x"}
LEGAL = {
    "schema_version": "legal_eval_v1",
    "id": "a",
    "dataset": "d",
    "prompt": "x",
    "task_type": "reference_qa",
    "reference_answers": ["x"],
}
RUBRIC = {
    "id": "odd",
    "version": "1.0.0",
    "description": "A check of a package.",
    "checks": [{"id": "odd", "kind": "odd"}],
    "scoring": {"combine": "all_pass"},
}
CHECK = """
import sys
from dataclasses import dataclass
from typing import ClassVar

from steelyard.model.outcome import Outcome

@dataclass(frozen=True)
class Odd:
    kind: ClassVar[str] = "odd"

    def check(self, trace, case):
        {body}
"""


def install(folder: Path, group: str, code: str) -> dict[str, str]:
    """A package with one entry point; what makes the command find it."""
    files = {
        "odd_package.py": code,
        "odd-1.0.dist-info/METADATA": "Name: odd\nVersion: 1.0\n",
        "odd-1.0.dist-info/entry_points.txt": f"[{group}]\nodd = odd_package:Odd\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(folder)}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a case, a rubric and targets."""
    folder = tmp_path / "project"
    folder.mkdir()
    targets = "{mine: {provider: odd}, ours: {provider: python, callable: 'ends:answer'}}"
    files = {
        "steelyard.yaml": f"targets: {targets}",
        "one.jsonl": json.dumps(CASE),
        "legal.jsonl": json.dumps(LEGAL),
        "odd.json": json.dumps(RUBRIC),
        "ends.py": "import sys\nsys.exit(0)\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "plugged",
    [
        ("steelyard.checks", "validate odd.json", "the check 'odd' of steelyard.checks"),
        ("steelyard.policies", "validate legal.jsonl", "the policy 'odd' of steelyard.policies"),
        ("steelyard.contracts", "validate one.jsonl", "the contract 'odd'"),
        ("steelyard.targets", "run one.jsonl --target mine", "the provider 'odd'"),
    ],
)
@pytest.mark.parametrize(
    "broken",
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_package_that_breaks_when_imported_is_named(
    steelyard: Command, project: Path, plugged: tuple[str, str, str], broken: tuple[str, str]
) -> None:
    (group, words, named), (code, told) = plugged, broken
    env = install(project.parent / "installed", group, code)
    done = steelyard(*words.split(), cwd=project, env=env)

    assert done.returncode == 2
    assert f"steelyard: {named} cannot be loaded: {told}" in done.stderr


def test_a_module_that_ends_the_program_is_named(steelyard: Command, project: Path) -> None:
    done = steelyard("run", "one.jsonl", "--target", "ours", cwd=project)

    assert done.returncode == 2
    assert "cannot load 'ends:answer': SystemExit: 0" in done.stderr


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("class Odd: pass", "must be a dataclass with a class variable 'kind' and a method"),
        (CHECK.replace("kind: ", "kin: ").format(body="pass"), "must be a dataclass with a class"),
        (CHECK.replace("@dataclass", "#").format(body="pass"), "must be a dataclass with a class"),
        (CHECK.format(body="pass\n    size: 'Gone' = 1"), "NameError: name 'Gone' is not defined"),
    ],
)
def test_a_package_that_brings_no_check_is_named(
    steelyard: Command, project: Path, code: str, told: str
) -> None:
    env = install(project.parent / "installed", "steelyard.checks", code)
    done = steelyard("validate", "odd.json", cwd=project, env=env)

    assert done.returncode == 2
    assert "the check 'odd' of steelyard.checks" in done.stderr
    assert told in done.stderr


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(0)", "SystemExit: 0"),
        ("return Outcome(passed='yes', score=1.0, reason='')", "passed 'yes'"),
        (
            "return Outcome(passed=True, score=1.0, reason='', details={'a': sys})",
            "the details are no JSON: TypeError",
        ),
    ],
)
def test_a_check_that_breaks_leaves_its_record_unscored(
    steelyard: Command, project: Path, body: str, told: str
) -> None:
    env = install(project.parent / "installed", "steelyard.checks", CHECK.format(body=body))
    words = ("run", "one.jsonl", "--target", "echo", "--rubric", "odd.json", "--format", "json")
    done = steelyard(*words, cwd=project, env=env)
    assert done.stdout, done.stderr
    folder = Path(json.loads(done.stdout)["artifacts"])

    assert done.returncode == 4, done.stderr
    assert told in (folder / "failures.jsonl").read_text(encoding="utf-8")


def test_whatever_else_ends_the_program_is_no_success(steelyard: Command, project: Path) -> None:
    body = "pass\n    def __post_init__(self):\n        sys.exit()"
    env = install(project.parent / "installed", "steelyard.checks", CHECK.format(body=body))
    done = steelyard("validate", "odd.json", cwd=project, env=env)

    assert done.returncode == 3
    assert "steelyard: the command was ended by SystemExit" in done.stderr
