"""`backup` of a project in use, and `restore`."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import httpx
import pytest
from aiohttp import web

from checker import check_run
from servers import openai_server
from servers.in_thread import in_thread
from servers.serve_process import serving
from servers.service_process import ServiceProcess, service_of
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.runs.execute import create_run

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


@pytest.mark.trials
def test_a_restored_run_whose_upload_is_gone_is_not_resumable_and_can_be_cancelled(
    tmp_path: Path, steelyard: Command
) -> None:
    root, copy = tmp_path / "project", tmp_path / "copy"
    root.mkdir()
    with in_thread(never_answering()) as url:
        with service_of(root, url) as service:
            run_id = service.post(20)
            wait_until_claimed(service, run_id)
        assert steelyard("backup", tmp_path / "backup.tar", cwd=root).returncode == 0
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".steelyard"))
        restored = steelyard("restore", tmp_path / "backup.tar", "--into", copy, cwd=tmp_path)
        assert restored.returncode == 0, restored.stderr
        (listed,) = json.loads(steelyard("runs", "--format", "json", cwd=copy).stdout)["data"]
        shown = steelyard("show", run_id, cwd=copy).stdout
        with serving(copy, "--no-worker") as server, httpx.Client(base_url=server.url) as client:
            answered = client.get(f"/v1/runs/{run_id}").json()
            refused = client.post(f"/v1/runs/{run_id}/resume")
            asked = client.post(f"/v1/runs/{run_id}/cancel")
            ended = until_ended(client, run_id)

    why = "its dataset was posted and is no longer stored"
    assert (listed["status"], listed["resumable"]) == ("running", False)
    assert str(listed["unresumable"]).startswith(why)
    assert shown.startswith("not finished: stopped, cannot be resumed; 0 of 20 record(s) so far; ")
    assert why in shown
    assert (answered["resumable"], answered["unresumable"]) == (False, listed["unresumable"])
    assert (refused.status_code, why in refused.text) == (409, True)
    assert (asked.status_code, ended["status"]) == (202, "cancelled")
    check_run(copy / ".steelyard" / "runs" / run_id)


def test_a_restored_run_of_the_queue_is_not_executed_and_can_be_cancelled(
    tmp_path: Path, steelyard: Command
) -> None:
    root, copy, backup = tmp_path / "project", tmp_path / "copy", tmp_path / "backup.tar"
    make_project(root)
    with open_project(root) as project:
        options = RunOptions(dataset=root / "cases.jsonl", target="echo")
        run_id = asyncio.run(create_run(project.run_ports(), options)).run_id
    assert steelyard("backup", backup, cwd=root).returncode == 0
    with_inputs(backup, root / ".steelyard" / "inputs" / run_id)
    make_project(copy)
    restored = steelyard("restore", backup, "--into", copy, cwd=tmp_path)
    kept = [path for path in (copy / ".steelyard" / "inputs").rglob("*") if path.is_file()]
    resumed = steelyard("resume", run_id, cwd=copy)
    with serving(copy) as server, httpx.Client(base_url=server.url) as client:
        time.sleep(2)  # a worker looks for queued runs every second
        answered = client.get(f"/v1/runs/{run_id}").json()
        refused = client.post(f"/v1/runs/{run_id}/resume")
        page = client.get(f"/runs/{run_id}").text
        asked = client.post(f"/v1/runs/{run_id}/cancel")
        ended = until_ended(client, run_id)
        wait_until_gone(copy / ".steelyard" / "inputs" / run_id)

    why = "its inputs were not restored; cancel it and run the dataset again"
    assert (restored.returncode, kept) == (0, []), restored.stderr
    assert (resumed.returncode, "were not restored; cancel it" in resumed.stderr) == (3, True)
    assert (answered["status"], answered["resumable"]) == ("queued", False)
    assert answered["unresumable"] == why
    assert (refused.status_code, why in refused.text, why in page) == (409, True, True)
    assert (asked.status_code, ended["status"]) == (202, "cancelled")
    check_run(copy / ".steelyard" / "runs" / run_id)


def wait_until_gone(folder: Path) -> None:
    """The worker removes it just after the run has ended."""
    deadline = time.monotonic() + 30
    while folder.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def with_inputs(backup: Path, folder: Path) -> None:
    """Add the inputs of a run to a back-up, as earlier versions and anybody else may do."""
    added = {f"inputs/{folder.name}/{one.name}": one.read_bytes() for one in folder.iterdir()}
    assert f"inputs/{folder.name}/steelyard.yaml" in added
    with tarfile.open(backup) as tar:
        files = {one.name: cast(BinaryIO, tar.extractfile(one)).read() for one in tar}
    manifest = files.pop("manifest.jsonl")
    for name, content in added.items():
        sha256 = hashlib.sha256(content).hexdigest()
        line = {"kind": "file", "name": name, "sha256": sha256, "size": len(content)}
        manifest += json.dumps(line).encode() + b"\n"
    line = {"kind": "link", "name": f"inputs/{folder.name}/again", "target": next(iter(added))}
    manifest += json.dumps(line).encode() + b"\n"
    with tarfile.open(backup, "w", format=tarfile.PAX_FORMAT) as tar:
        for name, content in {**files, **added, "manifest.jsonl": manifest}.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


@asynccontextmanager
async def never_answering() -> AsyncGenerator[str]:
    """An endpoint that takes requests and says nothing."""

    async def wait(_request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(600)
        raise web.HTTPGatewayTimeout

    async with openai_server.serving(wait) as url:
        yield url


def wait_until_claimed(service: ServiceProcess, run_id: str) -> None:
    deadline = time.monotonic() + 60
    while service.get(f"/v1/runs/{run_id}").json()["status"] != "running":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def until_ended(client: httpx.Client, run_id: str) -> Any:
    deadline = time.monotonic() + 60
    while (run := client.get(f"/v1/runs/{run_id}").json())["completed_at"] is None:
        assert time.monotonic() < deadline, run
        time.sleep(0.05)
    return run
