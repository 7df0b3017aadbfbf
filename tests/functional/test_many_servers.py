"""Several servers and their workers on one PostgreSQL, which is restarted while runs go on."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from checker import Place, Trial, asked, check_run, stored_predictions
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.postgres import Postgres, own_postgres
from servers.run_service import ENDED
from servers.service_process import CONCURRENCY, ServiceProcess, service_of

pytestmark = pytest.mark.trials
RECORDS = 400


@dataclass
class Endpoint:
    """Counts what it is asked, and takes its time."""

    calls: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        return web.json_response(COMPLETION)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[Postgres]:
    """A PostgreSQL server that every process of the test uses."""
    with own_postgres() as made:
        monkeypatch.setenv("STEELYARD_STORE", made.address())
        yield made


@contextmanager
def another(service: ServiceProcess) -> Generator[ServiceProcess]:
    """A second server of the same project."""
    other = ServiceProcess(service.root, workers=service.workers)
    other.start()
    try:
        yield other
    finally:
        other.kill_server()


def wait_for_results(root: Path, run_id: str, count: int) -> None:
    deadline = time.monotonic() + 60
    query = "SELECT count(*) FROM results WHERE run_id = ?"
    while asked(root / ".steelyard", query, run_id)[0][0] < count:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_restart_of_the_database_loses_nothing(
    tmp_path: Path, server: Postgres, how: str
) -> None:
    endpoint = Endpoint()
    with (
        in_thread(serving(endpoint.answer)) as url,
        service_of(tmp_path, url, workers=1) as service,
    ):
        run_id = service.post(RECORDS)
        folder = tmp_path / ".steelyard" / "runs" / run_id
        acknowledged: dict[Place, bytes] = {}
        for count in (20, 150):
            wait_for_results(tmp_path, run_id, count)
            acknowledged.update(stored_predictions(folder))
            server.control("restart", "-m", how)
        assert len(acknowledged) < RECORDS
        run = ended(service, run_id)

    assert run["status"] == "completed"
    assert (service.root / ".steelyard").is_dir()
    check_run(folder, Trial(acknowledged=acknowledged, kills=2, concurrency=CONCURRENCY))


def test_a_server_is_not_ready_while_the_database_is_away(
    tmp_path: Path, server: Postgres
) -> None:
    with service_of(tmp_path, "http://127.0.0.1:9", workers=0) as service:
        assert service.get("/readyz").status_code == 200
        server.control("stop", "-m", "fast")
        away = service.get("/readyz").status_code
        server.control("start", "-o", f"-h '' -k {server.socket}")

        assert away == 503
        assert service.get("/readyz").status_code == 200
        assert "steelyard_" in service.get("/metrics").text


def test_servers_share_the_runs_and_their_events(tmp_path: Path, server: Postgres) -> None:
    endpoint = Endpoint()
    with (
        in_thread(serving(endpoint.answer)) as url,
        service_of(tmp_path, url, workers=2) as one,
        another(one) as two,
    ):
        ids = [service.post(30) for service in (one, two) * 3]
        followed = events(two, ids[0])
        runs = [ended(service, run_id) for service in (two, one) for run_id in ids]

    assert {run["status"] for run in runs} == {"completed"}
    assert endpoint.calls == 30 * len(ids)
    assert '"completed"' in followed
    for run_id in ids:
        check_run(tmp_path / ".steelyard" / "runs" / run_id)
    query = "SELECT fence FROM runs ORDER BY run_id"
    assert asked(tmp_path / ".steelyard", query) == [(1,)] * len(ids)
    assert server.execute("SELECT count(*) FROM runs") == [(len(ids),)]


def events(service: ServiceProcess, run_id: str) -> str:
    """The stream of a run until its last event."""
    url = f"http://127.0.0.1:{service.port}/v1/runs/{run_id}/events"
    return httpx.get(url, headers={"accept": "text/event-stream"}, timeout=60).text


def ended(service: ServiceProcess, run_id: str) -> dict[str, object]:
    """A run when it has ended, whatever is answered while the database is away."""
    deadline = time.monotonic() + 120
    while True:
        answer = service.get(f"/v1/runs/{run_id}")
        if answer.status_code == 200 and answer.json()["status"] in ENDED:
            return answer.json()
        assert answer.status_code in {200, 503}, answer.text
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.1)
