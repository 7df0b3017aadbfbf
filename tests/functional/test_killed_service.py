"""`kill -9` of the server and of its workers while runs go on: nothing is lost or doubled."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from checker import Place, Trial, check_run, stored_predictions, wait_until_stored
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import ENDED, document, record
from servers.service_process import CONCURRENCY, QUERY, ServiceProcess, service_of
from steelyard.project import open_project

pytestmark = pytest.mark.trials

RECORDS = 240


@dataclass
class Endpoint:
    """Counts what it is asked."""

    calls: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(COMPLETION)


@dataclass
class Killing:
    """Kills the processes of a service while its runs go on."""

    service: ServiceProcess
    endpoint: Endpoint
    chance: random.Random
    acknowledged: dict[Place, bytes] = field(default_factory=dict[Place, bytes])

    def killed_run(self, most: int) -> int:
        """One run to its end, then the checker; how many kills it took."""
        before, kills, restarts = self.endpoint.calls, 0, 0
        self.acknowledged.clear()
        run_id = self.service.post(RECORDS)
        folder = self.service.root / ".steelyard" / "runs" / run_id
        while kills < most and self._comes_to_a_moment(run_id):
            how = self.chance.choice(("server", "worker", "both", "server", "worker", "restart"))
            self._stop(how, folder)
            kills, restarts = kills + (how != "restart"), restarts + (how == "restart")
        run = self.service.when_ended(run_id)
        assert run["status"] == "completed"
        calls = self.endpoint.calls - before
        trial = Trial(
            acknowledged=self.acknowledged,
            calls=calls,
            kills=kills + restarts,
            concurrency=CONCURRENCY,
        )
        check_run(folder, trial)
        self._check_spool()
        return kills

    def _check_spool(self) -> None:
        """The upload is gone soon after the end; one whose last process was killed is swept."""
        spool, deadline = self.service.root / ".steelyard" / "spool", time.monotonic() + 5
        while any(spool.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.05)
        with open_project(self.service.root) as project:
            project.spool.sweep(set(), now=time.time() + 3601)
        assert list(spool.iterdir()) == []

    def _comes_to_a_moment(self, run_id: str) -> bool:
        """Wait for some calls, or only for a moment; False when the run has ended before."""
        calls = self.endpoint.calls + self.chance.choice((0, 0, 5, 20, 40, RECORDS // 2))
        due = time.monotonic() + self.chance.uniform(0, 0.3)
        while self.endpoint.calls < calls or time.monotonic() < due:
            if self._has_ended(run_id):
                return False
            time.sleep(0.005)
        return not self._has_ended(run_id)

    def _has_ended(self, run_id: str) -> bool:
        query = "SELECT status FROM runs WHERE run_id = ?"
        with closing(sqlite3.connect(self.service.root / ".steelyard/steelyard.db")) as store:
            return store.execute(query, (run_id,)).fetchone()[0] in ENDED

    def _stop(self, how: str, folder: Path) -> None:
        """Kill processes, or restart the server in order; note what was stored until then."""
        if how in {"worker", "both"}:
            self.service.kill_worker()
        if how in {"server", "both"}:
            self.service.kill_server()
        self.acknowledged.update(stored_predictions(folder))
        if how in {"server", "both"}:
            self.service.start()
        elif how == "restart":
            self.service.restart()


@pytest.mark.parametrize(
    ("number", "seed"), [(20, 1), pytest.param(100, 1001, marks=pytest.mark.soak)]
)
def test_kills_of_server_and_workers_lose_nothing(
    tmp_path: Path, number: int, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    kills, endpoint = 0, Endpoint()
    with (
        capsys.disabled(),
        in_thread(serving(endpoint.answer)) as url,
        service_of(tmp_path, url, workers=2) as service,
    ):
        while kills < number:
            killing = Killing(service, endpoint, random.Random(seed))
            kills += killing.killed_run(most=number - kills)
            sys.stdout.write(f"[seed {seed}: {kills} kills] ")
            seed += 1


def test_posted_runs_wait_for_the_next_server(tmp_path: Path) -> None:
    endpoint = Endpoint()
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url) as service:
        ids = [service.post(40) for _ in range(4)]
        service.kill_server()
        service.start()

        ended = [service.when_ended(run_id) for run_id in ids]

    assert [run["status"] for run in ended] == ["completed"] * 4
    for run_id in ids:
        check_run(tmp_path / ".steelyard" / "runs" / run_id)
    assert endpoint.calls >= 160


def test_two_workers_share_the_queue(tmp_path: Path) -> None:
    endpoint = Endpoint()
    with (
        in_thread(serving(endpoint.answer)) as url,
        service_of(tmp_path, url, workers=2) as service,
    ):
        ids = [service.post(60) for _ in range(6)]
        ended = [service.when_ended(run_id) for run_id in ids]

    assert [run["status"] for run in ended] == ["completed"] * 6
    assert endpoint.calls == 360


@pytest.mark.parametrize("numbers", [(signal.SIGTERM,) * 5, (signal.SIGINT, signal.SIGTERM)])
def test_a_worker_hands_its_run_back_however_often_it_is_asked(
    tmp_path: Path, numbers: tuple[int, ...]
) -> None:
    endpoint = Endpoint()
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url, 0) as service:
        run_id = service.post(RECORDS)
        first = started_worker(tmp_path)
        wait_until_stored(tmp_path, 20)
        began = time.monotonic()
        for number in numbers:
            first.send_signal(number)
            time.sleep(0.02)  # signals that come at once are one
        code, took = first.wait(30), time.monotonic() - began
        stopped = service.get(f"/v1/runs/{run_id}").json()
        second = started_worker(tmp_path)
        run = service.when_ended(run_id)
        second.terminate()
        second.wait(30)

    assert code == 0
    assert took < 10
    assert "Traceback" not in (tmp_path / "worker.log").read_text(encoding="utf-8")
    assert (stopped["status"], stopped["resumable"]) == ("running", True)
    assert run["status"] == "completed"
    check_run(tmp_path / ".steelyard" / "runs" / run_id)


def started_worker(root: Path) -> subprocess.Popen[bytes]:
    """A worker that was started by hand."""
    words = [sys.executable, "-m", "steelyard", "worker"]
    with (root / "worker.log").open("ab") as log:
        return subprocess.Popen(words, cwd=root, stderr=log)


def test_nothing_of_an_upload_is_readable_on_disk_before_it_is_redacted(tmp_path: Path) -> None:
    planted = "planted-ada@example.com"
    with service_of(tmp_path, "http://127.0.0.1:9", workers=0) as service:
        body = document([record("r", f"write to {planted}")])
        url = f"http://127.0.0.1:{service.port}/v1/runs"
        run_id = httpx.post(url, params=QUERY, json=body, timeout=60).json()["run_id"]
        waiting = files_with(tmp_path, b"planted-ada")
        spooled = list((tmp_path / ".steelyard" / "spool").iterdir())
        httpx.post(f"{url}/{run_id}/cancel", timeout=60)
        service.when_ended(run_id)

    assert waiting == []
    assert len(spooled) == 1
    assert oct(spooled[0].stat().st_mode & 0o777) == "0o600" if spooled[0].exists() else True
    assert files_with(tmp_path, b"planted-ada") == []
    assert list((tmp_path / ".steelyard" / "spool").iterdir()) == []
    manifest = tmp_path / ".steelyard" / "runs" / run_id / "run_manifest.json"
    assert json.loads(manifest.read_text(encoding="utf-8"))["status"] == "cancelled"


def files_with(root: Path, text: bytes) -> list[Path]:
    """Every file that holds a text."""
    return [path for path in root.rglob("*") if path.is_file() and text in path.read_bytes()]
