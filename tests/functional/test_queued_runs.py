"""A run that was created and waits to be executed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from fakes.projects import row
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.runs.execute import create_run

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def queued(tmp_path: Path) -> str:
    """The id of a run in a project at the temporary folder."""
    (tmp_path / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    (tmp_path / "d.jsonl").write_text(json.dumps(row("a")) + "\n", encoding="utf-8")
    options = RunOptions(dataset=Path("d.jsonl"), target="echo")
    with open_project(tmp_path) as project:
        return asyncio.run(create_run(project.run_ports(), options)).run_id


def test_it_reads_as_queued_until_it_is_executed(
    steelyard: Steelyard, tmp_path: Path, queued: str
) -> None:
    shown, listed = (
        steelyard(*words, cwd=tmp_path).stdout for words in (("show", queued), ("runs",))
    )
    told = json.loads(steelyard("show", queued, "--format", "json", cwd=tmp_path).stdout)
    (line,) = json.loads(steelyard("runs", "--format", "json", cwd=tmp_path).stdout)["data"]

    assert shown.startswith("not finished: queued; 0 of 1 record(s) so far\n")
    assert " queued " in listed
    assert (line["status"], line["resumable"]) == ("queued", False)
    assert (told["manifest"]["status"], told["resumable"]) == ("queued", False)
    assert steelyard("resume", queued, cwd=tmp_path).returncode == 0
    assert " completed " in steelyard("runs", cwd=tmp_path).stdout
