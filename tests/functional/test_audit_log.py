"""The commands log what they change under the user of the machine, and nowhere else."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from steelyard.project import open_project
from steelyard.usecases.results.audit_log import list_changes

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]
LOGIN = "login-of-a-canary"
COMMANDS = (
    ("run", "datasets/first.yaml", "--target", "echo", "--rubric", "first"),
    ("resume", "latest"),
    ("cancel", "latest"),
    ("regrade", "latest", "--rubric", "first"),
    ("rubric", "publish", "first"),
    ("rubric", "publish", "first"),
    ("dataset", "publish", "datasets/first.yaml", "--version", "1"),
    ("show", "latest"),
    ("runs",),
)


@pytest.fixture(scope="module")
def root(steelyard: Steelyard, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which somebody has used the commands."""
    made = tmp_path_factory.mktemp("project")
    for words in (("init",), *COMMANDS):
        done = steelyard(*words, cwd=made, env={"LOGNAME": LOGIN})
        assert done.returncode in {0, 4}, done.stderr
    return made


def test_commands_log_their_changes_and_readers_log_nothing(root: Path) -> None:
    with open_project(root) as project:
        entries = [*reversed(list_changes(project.audit_log).entries)]
    made, regraded, rubric, dataset = entries

    assert [one.verb for one in entries] == ["create_run", "regrade_run", "publish", "publish"]
    assert (rubric.subject, dataset.subject) == ("rubric/first@1.0.0", "dataset/first@1")
    assert regraded.detail["derived_from"] == made.subject
    assert {one.caller.actor for one in entries} == {LOGIN}
    assert len({one.caller.request_id for one in entries}) == len(entries)


def test_the_login_name_stands_in_no_artifact(root: Path) -> None:
    files = [path for path in (root / ".steelyard").rglob("*") if path.is_file()]
    named = {path.name for path in files if LOGIN.encode() in path.read_bytes()}

    assert {path.name for path in files} >= {"run_manifest.json", "entry.json"}
    assert named <= {"steelyard.db", "steelyard.db-wal"}
    assert named
