"""Finished runs can be read where the store is lost, damaged, or on a disk that is full."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.trials

FULL = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
"""No file may grow, as on a disk without room."""
CASE = {
    "id": "a",
    "expected_outcome": "x",
    "input": "hello",
    "evaluators": [{"type": "contains", "value": "hello"}],
}


def steelyard(
    root: Path, *words: str, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*before, sys.executable, "-m", "steelyard", *words],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("finished")
    (root / "cases.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    done = steelyard(root, "run", "cases.jsonl", "--target", "echo")
    assert done.returncode == 0, done.stderr
    return root


@pytest.fixture
def project(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "project"))


def run_id(project: Path) -> str:
    return next((project / ".steelyard" / "runs").iterdir()).name


@pytest.mark.parametrize(
    "words",
    [
        ("show", "latest"),
        *(
            pytest.param(words, marks=pytest.mark.trials)
            for words in (
                ("show", "latest", "a"),
                ("compare", "latest", "latest"),
                ("export", "latest", "--to", "csv"),
                ("verify", "latest"),
            )
        ),
    ],
)
def test_a_full_disk_keeps_nobody_from_reading_finished_runs(
    project: Path, words: tuple[str, ...]
) -> None:
    usual = steelyard(project, *words)
    done = steelyard(project, *words, before=FULL)

    assert (done.returncode, done.stdout) == (usual.returncode, usual.stdout), done.stderr
    assert "steelyard.db: disk I/O error" in done.stderr
    assert "make room on the disk" in done.stderr
    assert f"{run_id(project)} is read from its folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_written_is_told_in_one_line(project: Path) -> None:
    for words in (("report", "latest", "-o", "r.html"), ("export", "latest", "-o", "o.csv")):
        done = steelyard(project, *words, before=FULL)

        assert done.returncode == 2
        assert f"cannot write {words[-1]}: File too large" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("content", [b"", b"no database at all, however long it is"])
def test_runs_whose_store_is_lost_are_still_read_and_listed(project: Path, content: bytes) -> None:
    store = project / ".steelyard" / "steelyard.db"
    store.write_bytes(content)
    shown = steelyard(project, "show", run_id(project))
    listed = steelyard(project, "runs")

    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("cases × echo  completed\n")
    if content:
        assert (listed.returncode, listed.stdout) == (3, "")
        assert f"cannot use the store {store}: file is not a database" in listed.stderr
        assert "put it back from a backup, or move it away and start anew" in listed.stderr
    else:
        assert listed.returncode == 0
        assert "the store of the project knows nothing of 1 finished run(s)" in listed.stderr
        assert f"steelyard show {run_id(project)}" in listed.stderr
