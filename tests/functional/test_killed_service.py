"""`kill -9` of the server and of its workers while runs go on: nothing is lost or doubled."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from checker import Place, Trial, check_run, stored_predictions, wait_until_stored
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import document, record
from servers.service_process import CONCURRENCY, QUERY, service_of

pytestmark = pytest.mark.trials

RECORDS = 240


@dataclass
class Endpoint:
    """Counts what it is asked."""

    calls: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(COMPLETION)


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_of_server_and_workers_lose_nothing(tmp_path: Path, seed: int) -> None:
    chance, endpoint = random.Random(seed), Endpoint()
    acknowledged: dict[Place, bytes] = {}
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url) as service:
        run_id = service.post(RECORDS)
        folder = tmp_path / ".steelyard" / "runs" / run_id
        kills = 0
        for part in range(1, 6):
            wait_until_stored(tmp_path, part * RECORDS // 8)
            time.sleep(chance.uniform(0, 0.1))
            kills += 1
            how = chance.choice(("server", "worker", "both", "restart"))
            if how == "worker":
                service.kill_worker()
            elif how == "restart":
                service.restart()
            else:
                if how == "both":
                    service.kill_worker()
                service.kill_server()
                acknowledged.update(stored_predictions(folder))
                service.start()
        run = service.when_ended(run_id)

    assert run["status"] == "completed"
    trial = Trial(
        acknowledged=acknowledged, calls=endpoint.calls, kills=kills, concurrency=CONCURRENCY
    )
    check_run(folder, trial)
    assert list((tmp_path / ".steelyard" / "spool").iterdir()) == []


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_hands_its_run_back(tmp_path: Path, number: int) -> None:
    endpoint = Endpoint()
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url, 0) as service:
        run_id = service.post(RECORDS)
        first = started_worker(tmp_path)
        wait_until_stored(tmp_path, 20)
        began = time.monotonic()
        first.send_signal(number)
        code, took = first.wait(30), time.monotonic() - began
        stopped = service.get(f"/v1/runs/{run_id}").json()
        second = started_worker(tmp_path)
        run = service.when_ended(run_id)
        second.terminate()
        second.wait(30)

    assert code == 0
    assert took < 10
    assert (stopped["status"], stopped["resumable"]) == ("running", True)
    assert run["status"] == "completed"
    check_run(tmp_path / ".steelyard" / "runs" / run_id)


def started_worker(root: Path) -> subprocess.Popen[bytes]:
    """A worker that was started by hand."""
    words = [sys.executable, "-m", "steelyard", "worker"]
    return subprocess.Popen(words, cwd=root, stderr=subprocess.DEVNULL)


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
