"""A run that was created and waits to be executed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from msgspec import structs

from fakes.projects import row
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.results.run_events import run_events
from steelyard.usecases.runs.execute import create_run

Steelyard: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

OPTIONS = RunOptions(dataset=Path("d.jsonl"), target="echo")


def write_project(root: Path, *rows: object, name: str = "d.jsonl") -> None:
    """A project with one dataset of eval cases."""
    (root / "steelyard.yaml").write_text("{}\n", encoding="utf-8")
    (root / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


@pytest.fixture
def queued(tmp_path: Path) -> str:
    """The id of a run in a project at the temporary folder."""
    write_project(tmp_path, row("a"))
    with open_project(tmp_path) as project:
        return asyncio.run(create_run(project.run_ports(), OPTIONS)).run_id


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


def test_what_its_plan_warned_of_is_told_without_personal_data(tmp_path: Path) -> None:
    write_project(tmp_path, row("a", inpt="a typo"), name="jo@example.org.jsonl")
    options = structs.replace(
        OPTIONS, dataset=Path("jo@example.org.jsonl"), judge="judge/accuracy@1.0.0"
    )
    with open_project(tmp_path) as project:
        run = asyncio.run(create_run(project.run_ports(), options))
        state, typo, unused = run_events(project.store, run.run_id)

    assert (state.kind, typo.kind, unused.kind) == ("state", "warning", "warning")
    assert typo.data == {
        "message": "[redacted:email]:1: unknown field 'inpt' (did you mean 'input'?)"
    }
    assert str(unused.data["message"]).startswith("judge/accuracy@1.0.0 is not asked")
