"""A server in a process of its own, with its workers, which tests kill and start again."""

from __future__ import annotations

import os
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

from servers.run_service import ENDED, document, record

CONCURRENCY = 8
RUBRIC = """\
id: any
version: 1.0.0
checks: [{id: says_nine, kind: must_contain_any, phrases: [nine]}]
scoring: {combine: all_pass}
"""
QUERY = {"target": "live", "rubric": "rubric/any@1.0"}


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
class ServiceProcess:
    """A server in a process of its own, which can be killed and started again."""

    root: Path
    workers: int = 1
    port: int = 0
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        """Start it, at the same port, and wait until it answers."""
        if not self.port:
            with socket.create_server(("127.0.0.1", 0)) as listener:
                self.port = listener.getsockname()[1]
        words = ("serve", "--port", str(self.port), "--workers", str(self.workers), *self.options)
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

    def post(self, count: int) -> str:
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
def service_of(root: Path, url: str, workers: int = 1) -> Generator[ServiceProcess]:
    """A server of a new project; stopped at the end."""
    write_project(root, url)
    service = ServiceProcess(root, workers)
    service.start()
    try:
        yield service
    finally:
        service.process.terminate()
        service.process.wait(30)
