"""What a run reads outside of its project, or hidden in it, and the copy on another machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakes.projects import Project
from steelyard.errors import InvalidError
from steelyard.project import open_project
from steelyard.results.stored_run import StoredRun
from steelyard.settings import EngineSettings
from steelyard.store.ray_cluster.sent_files import (
    ShippedFiles,
    ShownFiles,
    files_to_send,
    variables_to_send,
)
from steelyard.store.ray_cluster.shipment import Pieces, pack_files, unpack
from steelyard.usecases.runs.prepare import RunOptions, prepare

SETTINGS = """\
targets: {{live: {{provider: echo}}}}
guideline_patterns: []
allow: {{dot_files: true, folders: [../shared, {tmp}/.hidden]}}
"""
RUBRIC = """\
id: said
version: 1.0.0
checks: [{id: program, kind: command, script: [python3, .tools/grade.py]}]
scoring: {combine: all_pass}
"""
SHOWN = ("notes.md", ".data/secret.md", "../shared/far.md", "{tmp}/.hidden/deep/hidden.md")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose cases show files of every kind."""
    made = Project(tmp_path / "here" / "project", SETTINGS.format(tmp=tmp_path))
    for name in SHOWN:
        path = made.root / name.format(tmp=tmp_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"this is {path.name}\n", encoding="utf-8")
    made.write(".agentv/config.yaml", "guideline_patterns: ['notes.md']\n")
    return made


def shown_by(project: Project, *names: str, **options: str) -> tuple[StoredRun, ShownFiles]:
    """A run whose cases show files, and what it has read."""
    rows = [
        {
            "id": f"c{number}",
            "expected_outcome": "x",
            "evaluators": [{"type": "equals", "value": "yes"}],
            "input_messages": [{"role": "user", "content": [{"type": "file", "value": name}]}],
        }
        for number, name in enumerate(names)
    ]
    project.write("cases.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    opened, reads = open_project(project.root), dict[Path, Path]()
    ports = opened.executing_ports(EngineSettings(), reads)
    done = project.run(ports, Path("cases.jsonl"), target="live", **options)
    shown = ShownFiles(reads, opened.settings.allow.folders)
    return ports.repository.find(done.run_id), shown


def copied(sent: ShippedFiles, folder: Path) -> Path:
    """The root of a copy that was sent."""
    out = Pieces(lambda data: data)
    pack_files(sent, out)
    unpack(iter(out.finish()), folder)
    return folder / sent.inner


def test_a_copy_shows_the_files_that_the_run_shows(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, shown = shown_by(project, *(name.format(tmp=tmp_path) for name in SHOWN))
    sent = files_to_send(project.root, run, shown)
    there = copied(sent, tmp_path / "node")
    for name, text in variables_to_send(project.root, shown.folders).items():
        monkeypatch.setenv(name, text)
    for folder in ("here", ".hidden"):
        (tmp_path / folder).rename(tmp_path / f"{folder}-gone")
    copy = prepare(
        open_project(there).run_ports(), RunOptions(dataset=Path("cases.jsonl"), target="live")
    )

    assert run.plan
    assert copy.shown == run.plan.shown
    assert copy.forecast.valid == run.plan.valid == len(SHOWN)


def test_nothing_hidden_is_sent_that_the_run_does_not_read(project: Project) -> None:
    project.write(".env", "KEY=secret\n")
    project.write(".data/other.md", "not shown")
    project.write(".tools/grade.py", "print(1)\n")
    run, shown = shown_by(project, ".data/secret.md")
    sent = files_to_send(project.root, run, shown, [project.root / ".certs" / "ca.pem"])
    hidden = {str(place.relative_to(project.root)) for place in sent.places if "/." in str(place)}

    assert hidden == {".agentv/config.yaml", ".data/secret.md"}
    assert sent.inner == "."


def test_a_hidden_program_and_a_hidden_certificate_are_sent(project: Project) -> None:
    settings = SETTINGS.format(tmp=project.root)
    project.write("steelyard.yaml", settings.replace("{dot", "{commands: true, dot"))
    project.write("said.yaml", RUBRIC)
    project.write(".tools/grade.py", "from part import SCORE\nprint(SCORE)\n")
    project.write(".tools/part.py", "SCORE = 1\n")
    project.write(".tools/other.py", "")
    pem = project.write(".certs/ca.pem", "-")
    run, shown = shown_by(project, "notes.md", rubric="said.yaml")
    sent = files_to_send(project.root, run, shown, [pem])

    hidden = {place.name for place in sent.places if "/." in str(place)}
    assert hidden == {"config.yaml", "grade.py", "part.py", "ca.pem"}


@pytest.mark.parametrize("name", [".env", ".env.local"])
def test_a_file_of_secrets_is_never_sent(project: Project, name: str) -> None:
    project.write(name, "KEY=secret\n")
    run, shown = shown_by(project, name)

    with pytest.raises(InvalidError, match="hold secrets, and none is sent"):
        files_to_send(project.root, run, shown)


def test_settings_of_the_environment_are_sent_without_those_of_this_machine(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEELYARD_REDACTION_FIELDS", "['email']")
    monkeypatch.setenv("STEELYARD_STORE", "postgresql://db/here")
    monkeypatch.setenv("STEELYARD_SPOOL_KEY", "k")

    assert variables_to_send(project.root, ()) == {"STEELYARD_REDACTION_FIELDS": "['email']"}
