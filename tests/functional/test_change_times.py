"""Cancel, resume, retry and regrade over HTTP take effect at once.

How long each takes on a quiet machine is measured by `python -m bench.run_changes`. Here calls are
the clock: a busy machine makes fewer of them in a second, and never more.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from checker import check_run
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import document, record
from servers.service_process import ServiceProcess, service_of

pytestmark = pytest.mark.trials

CALLS_A_SECOND = 100
"""The most that the target allows."""
RECORDS = 50_000
"""So many that storing them as cancelled takes longer than a look at the run."""


@dataclass
class Endpoint:
    """Counts what it is asked."""

    calls: int = 0
    fails: bool = False

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        await asyncio.sleep(0.02)
        if self.fails:
            return web.json_response({"error": {"message": "no"}}, status=400)
        return web.json_response(COMPLETION)

    def wait_for(self, count: int) -> None:
        """Until so many calls were made."""
        deadline = time.monotonic() + 60
        while self.calls < count:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@dataclass
class Trial:
    """A server in a process of its own, and the endpoint of its target."""

    service: ServiceProcess
    endpoint: Endpoint
    root: Path

    def change(self, run_id: str, verb: str, body: Any = None) -> str:
        """The run that a request has changed or made."""
        url = f"http://127.0.0.1:{self.service.port}/v1/runs/{run_id}/{verb}"
        answer = httpx.post(url, json=body, timeout=60)
        assert answer.status_code == 202, answer.text
        return answer.json()["run_id"]

    def when(self, run_id: str, is_so: Callable[[Any], bool]) -> Any:
        """A run as soon as something is true of it."""
        deadline = time.monotonic() + 60
        while not is_so(run := self.service.get(f"/v1/runs/{run_id}").json()):
            assert time.monotonic() < deadline, run
            time.sleep(0.02)
        return run


@pytest.fixture
def trial(tmp_path: Path) -> Generator[Trial]:
    endpoint = Endpoint()
    with in_thread(serving(endpoint.answer)) as url, service_of(tmp_path, url) as service:
        yield Trial(service, endpoint, tmp_path)


def states(run: Any) -> list[str]:
    return [entry["state"] for entry in run["states"]]


def test_a_cancel_of_a_large_run_makes_no_call_after_a_second_and_shows_at_once(
    trial: Trial,
) -> None:
    run_id = trial.service.post(RECORDS)
    trial.endpoint.wait_for(50)
    trial.change(run_id, "cancel")
    before = trial.endpoint.calls
    shown = trial.when(run_id, lambda run: run["cancelling"])
    changed = trial.when(run_id, lambda run: run["status"] != "running")
    after = trial.endpoint.calls
    ended = trial.when(run_id, lambda run: run["status"] == "cancelled")

    assert shown["status"] in {"running", "finalizing"}
    assert after - before <= CALLS_A_SECOND
    assert trial.endpoint.calls == after
    assert (changed["status"], changed["cancelling"]) == ("finalizing", True)
    assert changed["progress"]["done"] < RECORDS  # its last records are stored afterwards
    assert states(ended) == ["queued", "validating", "running", "finalizing", "cancelled"]
    assert (ended["cancelling"], ended["progress"]["done"]) == (False, RECORDS)
    check_run(trial.root / ".steelyard" / "runs" / run_id)


def test_a_cancel_of_a_run_that_waits_shows_at_once_and_runs_nothing(trial: Trial) -> None:
    first, second = trial.service.post(2_000), trial.service.post(2_000)
    trial.endpoint.wait_for(1)
    before = trial.endpoint.calls
    trial.change(second, "cancel")
    shown = trial.when(second, lambda run: run["cancelling"] or run["completed_at"])
    after = trial.endpoint.calls
    ended = trial.when(second, lambda run: run["status"] == "cancelled")
    trial.change(first, "cancel")
    trial.when(first, lambda run: run["status"] == "cancelled")

    assert after - before <= CALLS_A_SECOND
    assert shown["status"] in {"queued", "cancelled"}
    assert (states(ended), ended["started_at"]) == (["queued", "cancelled"], None)
    for run_id in (first, second):
        check_run(trial.root / ".steelyard" / "runs" / run_id)


def killed_run(trial: Trial) -> str:
    """A run of the command line whose process is gone, so that no worker takes it by itself."""
    rows = [record(f"r{n}", f"When? {n}") for n in range(400)]
    (trial.root / "d.json").write_text(json.dumps(document(rows)), encoding="utf-8")
    words = ("run", "d.json", "--target", "live", "--rubric", "rubric/any@1.0")
    process = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words], cwd=trial.root, stderr=subprocess.DEVNULL
    )
    trial.endpoint.wait_for(30)
    process.kill()
    process.wait()
    return trial.service.get("/v1/runs").json()["data"][0]["run_id"]


def test_resume_retry_and_regrade_are_begun_by_a_free_worker(trial: Trial) -> None:
    run_id = killed_run(trial)
    trial.endpoint.fails = True
    stopped = trial.service.get(f"/v1/runs/{run_id}").json()
    trial.change(run_id, "resume")
    resumed = trial.when(run_id, lambda run: not run["waiting"])
    trial.when(run_id, lambda run: run["completed_at"])
    for verb, body in (("retry", None), ("regrade", {"rubric": "rubric/any@1.0"})):
        derived = trial.change(run_id, verb, body)
        begun = trial.when(derived, lambda run: run["status"] != "queued")
        trial.when(derived, lambda run: run["completed_at"])
        check_run(trial.root / ".steelyard" / "runs" / derived)

        assert not begun["waiting"]
    assert (stopped["status"], stopped["resumable"], stopped["waiting"]) == (
        "running",
        True,
        False,
    )
    assert not resumed["resumable"]
