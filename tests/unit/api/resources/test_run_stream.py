"""The events of runs as a stream."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Generator
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from servers.accounts import key_of
from servers.nginx import nginx_before, require_nginx
from servers.run_service import RunService, document, record, run_service, write_project
from servers.service import running
from steelyard.api.resources import run_stream
from steelyard.execution.run_options import RunOptions
from steelyard.project import open_project
from steelyard.usecases.access.keys import revoke_key
from steelyard.usecases.runs.execute import create_run


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunService]:
    root = tmp_path_factory.mktemp("streamed")
    write_project(root)
    with run_service(root) as running:
        yield running


def frames(service: RunService, run_id: str, **headers: str) -> list[tuple[int, str, Any]]:
    """All events of a run until the stream ends."""
    found: list[tuple[int, str, Any]] = []
    with service.client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
        assert answer.headers["cache-control"] == "no-cache"
        assert "content-encoding" not in answer.headers
        text = "".join(answer.iter_text())
    for block in text.split("\n\n"):
        if block and not block.startswith(":"):
            lines = dict(line.split(": ", 1) for line in block.splitlines())
            found.append((int(lines["id"]), lines["event"], json.loads(lines["data"])))
    return found


def test_a_run_is_followed_from_its_first_state_to_its_end(service: RunService) -> None:
    records = [record(f"r{n}") for n in range(60)]
    run_id = service.post(document(records), target="slow").json()["run_id"]

    found = frames(service, run_id)

    states = [data["state"] for _, kind, data in found if kind == "state"]
    assert states == ["queued", "validating", "running", "finalizing", "completed"]
    numbers = [number for number, _, _ in found]
    assert numbers == sorted(set(numbers))
    progress = [data for _, kind, data in found if kind == "progress"]
    assert len(progress) >= 2
    assert {name: progress[-1][name] for name in ("total", "done", "failed", "retrying")} == {
        "total": 60,
        "done": 60,
        "failed": 0,
        "retrying": 0,
    }
    assert found[-1] == (numbers[-1], "end", {"run_id": run_id, "status": "completed"})


def test_a_stream_goes_on_after_the_last_event_that_a_client_has(service: RunService) -> None:
    run_id = service.post(document([record("a")])).json()["run_id"]
    whole = frames(service, run_id)

    rest = frames(service, run_id, **{"last-event-id": str(whole[2][0])})

    assert rest == whole[3:]
    for last in (whole[-1][0], 99_999_999):
        assert frames(service, run_id, **{"last-event-id": str(last)}) == whole[-1:]


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "9" * 40])
def test_an_id_of_no_event_is_refused(service: RunService, value: str) -> None:
    run_id = service.post(document([record("a")])).json()["run_id"]
    path = f"/v1/runs/{run_id}/events"

    header = service.client.get(path, headers={"last-event-id": value})
    query = service.client.get(path, params={"after": value})

    assert (header.status_code, query.status_code) == (400, 400)


def test_the_headers_of_a_stream_can_be_asked_for_alone(service: RunService) -> None:
    run_id = service.post(document([record("a")])).json()["run_id"]

    answer = service.client.head(f"/v1/runs/{run_id}/events")

    assert answer.headers["content-type"].startswith("text/event-stream")


def test_a_stream_of_no_run_is_not_found(service: RunService) -> None:
    assert service.client.get("/v1/runs/run_unknown/events").status_code == 404


def test_a_stream_ends_when_its_key_is_revoked_and_when_the_server_stops(tmp_path: Path) -> None:
    write_project(tmp_path)
    options = RunOptions(dataset=Path("datasets/saved.json"), target="echo", rubric="found@1.0")
    with open_project(tmp_path) as project:
        run_id = asyncio.run(create_run(project.run_ports(), options)).run_id
        keys = [key_of(project, "viewer", name=name) for name in ("a", "b")]
        with running(project, has_login=True, public_url="https://evals.example.org") as url:
            ends: list[str] = []
            path = f"{url}/v1/runs/{run_id}/events"
            threads = [Thread(target=_follow, args=(path, key, ends)) for key in keys]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
            revoke_key(project.access_ports(), "a")
            threads[0].join(10)
            ended_by_key = len(ends)
        threads[1].join(10)

    assert ended_by_key == 1
    assert ["event: state" in text for text in ends] == [True, True]


def _follow(url: str, headers: dict[str, str], ends: list[str]) -> None:
    with httpx.stream("GET", url, headers=headers, timeout=30) as answer:
        ends.append("".join(answer.iter_text()))


WAITING_SITE = """
server {{
    listen 127.0.0.1:{port};
    location / {{
        proxy_pass {server};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_read_timeout 3s;
    }}
}}
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Generator[tuple[str, str]]:
    """A server without a worker, and the address of the events of a run that waits for one."""
    write_project(tmp_path)
    options = RunOptions(dataset=Path("datasets/saved.json"), target="echo", rubric="found@1.0")
    with open_project(tmp_path) as project:
        run_id = asyncio.run(create_run(project.run_ports(), options)).run_id
        with running(project) as url:
            yield url, f"/v1/runs/{run_id}/events"


def _beats(url: str, count: int) -> list[str]:
    """The lines of a stream until so many heartbeats have come."""
    found: list[str] = []
    with httpx.stream("GET", url, timeout=60) as answer:
        for line in answer.iter_lines():
            found += [line] if line else []
            if found.count(": heartbeat") == count:
                break
    return found


def test_a_stream_without_events_has_a_heartbeat(
    waiting: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_stream, "_BEAT_S", 0.3)
    server, path = waiting

    lines = _beats(server + path, 3)

    assert lines[0] == ": events of a run"
    assert lines[-3:] == [": heartbeat"] * 3
    assert [line for line in lines if line.startswith("event: ")] == ["event: state"]


@pytest.mark.trials
def test_heartbeats_keep_a_stream_open_behind_a_proxy(
    waiting: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy hangs up where nothing is sent for three seconds."""
    require_nginx()
    server, path = waiting

    with nginx_before(server, tmp_path / "proxy", site=WAITING_SITE) as url:
        monkeypatch.setattr(run_stream, "_BEAT_S", 0.5)
        kept = _beats(url + path, 12)
        monkeypatch.setattr(run_stream, "_BEAT_S", 60.0)
        with pytest.raises(httpx.RemoteProtocolError):
            _beats(url + path, 1)

    assert kept[-12:] == [": heartbeat"] * 12
