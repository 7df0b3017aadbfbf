"""`kill -9` of the server and of its workers while runs go on: nothing is lost or doubled."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from checker import Place, Trial, check_run, stored_predictions, wait_until_stored
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import ENDED, document, record

pytestmark = pytest.mark.trials

RECORDS = 240
CONCURRENCY = 8
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: says_nine, kind: must_contain_any, phrases: [nine]}]
scoring: {combine: all_pass}
"""
QUERY = {"target": "live", "rubric": "rubric/any@1.0"}


@dataclass
class Endpoint:
    """Counts what it is asked."""

    calls: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(COMPLETION)


def write_project(root: Path, url: str) -> None:
    """A project with a target and a rubric."""
    (root / "rubrics").mkdir()
    (root / "rubrics" / "any.yaml").write_text(RUBRIC, encoding="utf-8")
    (root / "steelyard.yaml").write_text(
        f"targets: {{live: {{provider: openai, base_url: '{url}', model: m, "
        f"max_concurrency: {CONCURRENCY}, requests_per_minute: 6000}}}}\n",
        encoding="utf-8",
    )


@dataclass
class Service:
    """A server in a process of its own, which can be killed and started again."""

    root: Path
    workers: int = 1
    port: int = 0
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Start it, at the same port, and wait until it answers."""
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                self.port = listener.getsockname()[1]
        words = ("serve", "--port", str(self.port), "--workers", str(self.workers))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "steelyard", *words],
            cwd=self.root,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while True:
            with suppress(httpx.TransportError):
                if self.get("/healthz").status_code == 200:
                    return
            assert time.monotonic() < deadline
            assert self.process.poll() is None
            time.sleep(0.05)

    def get(self, path: str) -> httpx.Response:
        """An answer."""
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=30)

    def post(self, count: int = RECORDS) -> str:
        """The id of a run of many records."""
        body = document([record(f"r{n}", f"When? {n}") for n in range(count)])
        url = f"http://127.0.0.1:{self.port}/v1/runs"
        answer = httpx.post(url, params=QUERY, json=body, timeout=60)
        assert answer.status_code == 202, answer.text
        return answer.json()["run_id"]

    def worker_ids(self) -> list[int]:
        """The processes that the server has started."""
        return children(self.process.pid)

    def kill_server(self) -> None:
        """Kill it alone, and see its workers end by themselves."""
        workers = self.worker_ids()
        self.process.kill()
        self.process.wait()
        deadline = time.monotonic() + 15
        while any(map(is_running, workers)):
            assert time.monotonic() < deadline, "a worker has outlived its server"
            time.sleep(0.05)

    def kill_worker(self) -> None:
        """Kill the workers, which the server starts again."""
        for number in self.worker_ids():
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def restart(self) -> None:
        """Stop it in order, and start it again."""
        began = time.monotonic()
        self.process.terminate()
        self.process.wait(30)
        assert time.monotonic() - began < 20
        self.start()

    def when_ended(self, run_id: str, patience_s: float = 120.0) -> Any:
        """A run once it has ended."""
        deadline = time.monotonic() + patience_s
        while True:
            run = self.get(f"/v1/runs/{run_id}").json()
            if run["status"] in ENDED:
                return run
            assert time.monotonic() < deadline, run
            time.sleep(0.1)


def is_running(number: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").split()[2] != "Z"
    except OSError:
        return False


def children(number: int) -> list[int]:
    """The processes that another has started."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text(encoding="utf-8")
            if int(stat.rsplit(")", 1)[1].split()[1]) == number:
                found.append(int(entry.name))
    return found


@contextmanager
def service_of(root: Path, url: str, workers: int = 1) -> Generator[Service]:
    """A server of a new project; stopped at the end."""
    write_project(root, url)
    service = Service(root, workers)
    service.start()
    try:
        yield service
    finally:
        service.process.terminate()
        service.process.wait(30)


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_of_server_and_workers_lose_nothing(tmp_path: Path, seed: int) -> None:
    chance, endpoint = random.Random(seed), Endpoint()
    acknowledged: dict[Place, bytes] = {}
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url) as service:
        run_id = service.post()
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
