"""`backup` of a project in use, and `restore`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from checker import check_run
from servers.serve_process import serving

Command = Callable[..., subprocess.CompletedProcess[str]]
CASES = 400


def make_project(root: Path) -> None:
    root.mkdir()
    check = [{"type": "contains", "value": "ok"}]
    rows = (
        {
            "id": f"c{number}",
            "input": f"ok {number}",
            "expected_outcome": "ok",
            "assertions": check,
        }
        for number in range(CASES)
    )
    text = "".join(json.dumps(one) + "\n" for one in rows)
    (root / "cases.jsonl").write_text(text, encoding="utf-8")
    (root / "slow.py").write_text(
        "import time\ndef answer(prompt: str) -> str:\n    time.sleep(0.01)\n    return prompt\n",
        encoding="utf-8",
    )
    (root / "steelyard.yaml").write_text(
        "targets: {slow: {provider: python, callable: 'slow:answer', max_concurrency: 4}}\n",
        encoding="utf-8",
    )


@pytest.mark.trials
def test_a_backup_of_a_server_under_load_is_consistent(tmp_path: Path, steelyard: Command) -> None:
    root = tmp_path / "project"
    make_project(root)
    finished = steelyard("run", "cases.jsonl", "--target", "slow", cwd=root)
    assert finished.returncode == 0, finished.stderr
    command = [sys.executable, "-P", "-m", "steelyard", "run", "cases.jsonl", "--target", "slow"]
    with serving(root) as server, httpx.Client(base_url=server.url) as client:
        running = subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL)
        backups = [tmp_path / f"backup-{number}.tar" for number in range(4)]
        for path in backups:
            time.sleep(0.7)
            assert client.get("/v1/runs").status_code == 200
            done = steelyard("backup", path, cwd=root)
            assert done.returncode == 0, done.stderr
        assert running.wait(60) == 0

    for number, path in enumerate(backups):
        copy = tmp_path / f"copy-{number}"
        make_project(copy)
        done = steelyard("restore", path, "--into", copy, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        check_restored(copy, steelyard)


def check_restored(root: Path, steelyard: Command) -> None:
    """Every finished run is intact, and every other one can be resumed to the same result."""
    listed = json.loads(steelyard("runs", "--format", "json", cwd=root).stdout)["data"]
    assert listed
    for run in listed:
        if run["status"] != "completed":
            done = steelyard("resume", run["run_id"], cwd=root)
            assert done.returncode == 0, done.stderr
        assert steelyard("verify", run["run_id"], cwd=root).returncode == 0
        check_run(root / ".steelyard" / "runs" / run["run_id"])


def test_commands_say_what_they_did_and_what_is_wrong(tmp_path: Path, steelyard: Command) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "steelyard.yaml").write_text("", encoding="utf-8")

    made = steelyard("backup", tmp_path / "b.tar", cwd=root)
    again = steelyard("backup", tmp_path / "b.tar", cwd=root)
    over = steelyard("restore", tmp_path / "b.tar", cwd=root)
    missing = steelyard("restore", tmp_path / "none.tar", "--into", "new", cwd=tmp_path)

    assert "0 run(s), 1 file(s)" in made.stdout
    assert (again.returncode, over.returncode, missing.returncode) == (2, 2, 2)
    assert "choose another name" in again.stderr
    assert "holds data" in over.stderr
    assert "there is no file" in missing.stderr
