"""A run that one process queues, and another executes after the user's files are gone."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., subprocess.CompletedProcess[str]]

CREATE = """\
import asyncio, sys
from steelyard.project import open_project
from steelyard.usecases.runs.execute import create_run
from steelyard.usecases.runs.suites import SuiteChoice, choose

with open_project(sys.argv[1]) as project:
    ports = project.run_ports()
    for options in choose(ports, SuiteChoice(suite=sys.argv[2], workers=int(sys.argv[3]))):
        print(asyncio.run(create_run(ports, options)).run_id)
"""
EXECUTE = """\
import asyncio, sys
from steelyard.project import open_project
from steelyard.usecases.runs.execute import execute_run

with open_project(sys.argv[1]) as project:
    done = asyncio.run(execute_run(project.run_ports(), sys.argv[2], lambda _: None))
    print(done.folder)
"""
SAVE = """\
import sys
from steelyard.project import open_project
from steelyard.usecases.settings.saved_settings import delete_target, save_suite, save_target

with open_project(sys.argv[1]) as project:
    ports = project.setting_ports()
    if sys.argv[2] == "delete":
        delete_target(ports, "kept")
    else:
        save_target(ports, "kept", {"provider": "recorded", "path": "responses/assistant_a.jsonl"})
        save_suite(ports, "stored", {"dataset": "datasets/rules-quiz.jsonl", "target": "kept"})
"""
COMPARED = ("record_id", "record_sha256", "status", "model_response", "trace", "score", "passed")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(str(files("steelyard.demo") / "project"), root)
    return root


def in_python(program: str, *words: str, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *words],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def forget(root: Path) -> None:
    """Remove all that the user wrote, and put another project file in its place."""
    for path in root.iterdir():
        if path.name != ".steelyard":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    (root / "steelyard.yaml").write_text("retry: {max_attempts: 1}\n", encoding="utf-8")


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    return [{name: row[name] for name in COMPARED} for row in map(json.loads, lines)]


@pytest.mark.parametrize(
    ("suite", "workers"),
    [("helpdesk", 1), ("judged", 2), ("catalogue", 1), ("quiz", 1), ("conversations", 1)],
)
def test_a_queued_run_is_executed_as_it_was_planned(
    suite: str, workers: int, project: Path, tmp_path: Path, steelyard: Command
) -> None:
    direct = shutil.copytree(project, tmp_path / "direct")
    run_id = in_python(CREATE, str(project), suite, str(workers), cwd=tmp_path)
    forget(project)
    executed = Path(in_python(EXECUTE, str(project), run_id, cwd=project))
    shown = steelyard("run", "--suite", suite, "--format", "json", cwd=direct)
    expected = direct / json.loads(shown.stdout)["artifacts"]

    assert rows(executed) == rows(expected)
    manifest, other = (
        json.loads((folder / "run_manifest.json").read_text("utf-8").replace(str(root), "."))
        for folder, root in ((executed, project), (expected, direct))
    )
    for name in ("source", "targets", "judge_targets", "rubrics", "templates", "retry"):
        assert manifest[name] == other[name], name
    assert not (project / ".steelyard" / "inputs" / run_id).exists()
    assert list((project / ".steelyard" / "inputs" / "content").iterdir()) == []
    assert steelyard("verify", run_id, cwd=project).returncode == 0


def test_runs_of_one_dataset_share_a_private_copy(project: Path, tmp_path: Path) -> None:
    first, second = (
        in_python(CREATE, str(project), suite, "1", cwd=tmp_path)
        for suite in ("helpdesk", "judged")
    )
    inputs = project / ".steelyard" / "inputs"
    one, other = (inputs / run_id / "datasets" / "helpdesk.jsonl" for run_id in (first, second))

    assert one.samefile(other)
    assert stat.S_IMODE(one.stat().st_mode) == 0o400
    assert stat.S_IMODE(one.parent.stat().st_mode) == 0o700

    in_python(EXECUTE, str(project), first, cwd=tmp_path)

    assert not one.exists()
    assert other.is_file()


def test_a_cancelled_queued_run_leaves_no_copy(
    project: Path, tmp_path: Path, steelyard: Command
) -> None:
    run_id = in_python(CREATE, str(project), "judged", "1", cwd=tmp_path)
    forget(project)
    done = steelyard("cancel", run_id, cwd=project)

    assert done.returncode == 0, done.stderr
    assert not (project / ".steelyard" / "inputs" / run_id).exists()


def test_a_queued_run_with_damaged_settings_is_refused_but_cancelled(
    project: Path, tmp_path: Path, steelyard: Command
) -> None:
    run_id = in_python(CREATE, str(project), "quiz", "1", cwd=tmp_path)
    settings = project / ".steelyard" / "inputs" / run_id / "steelyard.yaml"
    settings.chmod(0o600)
    settings.write_text("retry: {max_attempts: 1}\n", encoding="utf-8")
    resumed = steelyard("resume", run_id, cwd=project)
    cancelled = steelyard("cancel", run_id, cwd=project)

    assert resumed.returncode == 3
    assert f"the settings kept for {run_id} are damaged" in resumed.stderr
    assert cancelled.returncode == 0, cancelled.stderr
    assert not settings.exists()


def test_an_invalid_project_file_is_an_error_for_queued_runs_until_it_is_mended(
    project: Path, tmp_path: Path, steelyard: Command
) -> None:
    run_id = in_python(CREATE, str(project), "quiz", "1", cwd=tmp_path)
    (project / "steelyard.yaml").write_text("retry: [", encoding="utf-8")
    refused = steelyard("resume", run_id, cwd=project)
    (project / "steelyard.yaml").unlink()

    assert refused.returncode == 2
    assert "steelyard.yaml:1" in refused.stderr
    assert in_python(EXECUTE, str(project), run_id, cwd=tmp_path)


def test_settings_of_the_environment_count_when_a_run_is_queued(
    project: Path, tmp_path: Path
) -> None:
    run_id = in_python(
        CREATE, str(project), "quiz", "1", cwd=tmp_path, STEELYARD_RETRY_MAX_ATTEMPTS="2"
    )
    folder = in_python(
        EXECUTE, str(project), run_id, cwd=tmp_path, STEELYARD_RETRY_MAX_ATTEMPTS="5"
    )

    manifest = json.loads((Path(folder) / "run_manifest.json").read_bytes())
    assert manifest["retry"]["max_attempts"] == 2


def test_a_project_file_may_hold_any_character(project: Path, tmp_path: Path) -> None:
    with (project / "steelyard.yaml").open("a", encoding="utf-8") as stream:
        stream.write("redaction: {custom: {smile: '\U0001f600'}}\n")
    run_id = in_python(CREATE, str(project), "quiz", "1", cwd=tmp_path)

    assert in_python(EXECUTE, str(project), run_id, cwd=tmp_path)


def test_suites_and_targets_of_the_store_are_run_like_those_of_the_project_file(
    project: Path, tmp_path: Path, steelyard: Command
) -> None:
    in_python(SAVE, str(project), "save", cwd=tmp_path)
    direct = steelyard("run", "--suite", "stored", "--format", "json", cwd=project)
    run_id = in_python(CREATE, str(project), "stored", "1", cwd=tmp_path)
    in_python(SAVE, str(project), "delete", cwd=tmp_path)
    forget(project)
    executed = Path(in_python(EXECUTE, str(project), run_id, cwd=tmp_path))

    assert direct.returncode in {0, 4}, direct.stderr
    assert rows(executed) == rows(project / json.loads(direct.stdout)["artifacts"])
