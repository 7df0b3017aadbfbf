"""A run that is no longer what was sealed is refused by every command that reads it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from fakes.desk_project import write_desk
from fakes.many_commands import run_many

DESK = "datasets/desk.jsonl"
JSON = ("--format", "json")
METRICS, MANIFEST = "metrics_summary.json", "run_manifest.json"


class Project(NamedTuple):
    """A project with two runs: an older one, and one of which a file was changed."""

    root: Path
    older: str
    changed: str


def damage(folder: Path, name: str, text: str | None) -> None:
    """Write something else in the place of an artifact, or nothing."""
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = write_desk(tmp_path_factory.mktemp("sealed"))
    words = ("run", DESK, "--target", "moody", *JSON)
    ids = [json.loads(one.stdout)["run_id"] for one in run_many(root, [words, words])]
    shutil.copytree(root / ".steelyard" / "runs" / ids[0], root / "copy")
    folder = root / ".steelyard" / "runs" / ids[1]
    text = (folder / METRICS).read_text(encoding="utf-8")
    damage(folder, METRICS, text.replace('"fail_count": ', '"fail_count": 1'))
    return Project(root, *ids)


READERS = {
    "show": ("show", "latest"),
    "show json": ("show", "latest", *JSON),
    "show record": ("show", "latest", "hours"),
    "show a record of a folder": ("show", "{folder}", "hours"),
    "report": ("report", "latest", "-o", "out.html"),
    "export": ("export", "latest"),
    "compare": ("compare", "latest~1", "latest"),
    "retry": ("retry", "latest"),
    "regrade": ("regrade", "latest", "--rubric", "polite"),
    "resume": ("resume", "latest"),
    "from run": ("run", DESK, "--from-run", "latest"),
    "assign": ("review", "assign", "latest", "--count", "2", "-o", "out.jsonl"),
    "agreement": ("review", "agreement", "latest"),
    "labels": ("review", "export", "--run", "latest"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_changed_run_is_refused_by_whatever_reads_it(project: Project, name: str) -> None:
    folder = f".steelyard/runs/{project.changed}"
    (done,) = run_many(project.root, [[word.format(folder=folder) for word in READERS[name]]])

    assert (done.code, done.stdout) == (2, "")
    assert f"is not what was sealed: {METRICS} (changed); `steelyard verify " in done.stderr
    assert project.changed in done.stderr
    assert not (project.root / "out.html").exists()


def test_verify_still_explains_it_and_runs_still_lists_it(project: Project) -> None:
    verified, listed = run_many(project.root, [("verify", "latest"), ("runs",)])

    assert (verified.code, listed.code) == (1, 0)
    assert f"changed   {METRICS}  sealed with" in verified.stdout
    assert project.changed in listed.stdout


@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        (METRICS, "[]", "changed"),
        (METRICS, '{"pass_rate": {"va', "changed"),
        (METRICS, '{"pass_rate": [], "fail_count": "three"}', "changed"),
        (METRICS, None, "missing"),
        ("metrics_by_slice.json", "null", "changed"),
        ("predictions.jsonl", '[1, 2]\n"a"\n', "changed"),
        ("predictions.jsonl", "", "changed"),
        ("failures.jsonl", '{"label": 3}\n', "changed"),
        ("attempt_logs.jsonl", None, "missing"),
        (MANIFEST, "[]", "changed"),
        (MANIFEST, "{}", "changed"),
        (MANIFEST, '{"artifacts": [], "run_id": 3}', "changed"),
        (MANIFEST, '{"artifacts": {"predictions.jsonl": 3}, "run_id": NaN}', "changed"),
        (MANIFEST, '{"run_id": "\\ud800", "artifacts": {}}', "changed"),
        (MANIFEST, '{"run_id": "run_', "changed"),
        (MANIFEST, "", "changed"),
    ],
)
def test_damage_of_any_kind_is_an_error_of_the_file(
    project: Project, tmp_path: Path, name: str, text: str | None, state: str
) -> None:
    shutil.copytree(project.root / "copy", tmp_path / "kept")
    shutil.copytree(project.root / "copy", tmp_path / "whole")
    damage(tmp_path / "kept", name, text)
    commands = [
        ("show", "kept"),
        ("show", "kept", "hours"),
        ("report", "kept", "-o", "out.html"),
        ("export", "kept"),
        ("compare", "whole", "kept"),
    ]

    for done in run_many(tmp_path, commands):
        assert (done.code, done.stdout) == (2, "")
        assert f"{name} ({state})" in done.stderr
