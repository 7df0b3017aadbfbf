"""`steelyard serve` as a process: how it starts, logs and stops."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from servers.raw_http import answers, connected, read_all
from servers.run_service import document, record, write_project
from servers.serve_process import ServeProcess, serving
from steelyard.project import open_project


@pytest.mark.parametrize(
    ("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)], ids=["SIGTERM", "Ctrl-C"]
)
def test_a_signal_stops_the_server_in_order(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    with serving(tmp_path) as server, httpx.Client(base_url=server.url) as client:
        assert client.get("/readyz").status_code == 200
        began = time.monotonic()
        server.process.send_signal(sent)

        assert server.process.wait(10) == code

    assert time.monotonic() - began < 5
    assert not [line for line in server.log_lines() if "traceback" in line.lower()]


_SLOW_SERVER = """
import sys
from pathlib import Path
from steelyard.api.serving import ServerSettings, TransportLimits
from steelyard.project import open_project
from steelyard.server import serve

settings = ServerSettings(port=0, limits=TransportLimits(grace_s=1))
with open_project(Path.cwd()) as project:
    serve(project, settings, lambda url: print(url, flush=True))
"""


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_request_that_does_not_end_does_not_keep_the_server_running(
    tmp_path: Path, sent: signal.Signals, code: int
) -> None:
    (tmp_path / "steelyard.yaml").write_text(
        'targets: {slow: {provider: python, callable: "slow_agent:ask"}}\n',
        encoding="utf-8",
    )
    (tmp_path / "slow_agent.py").write_text(
        "import pathlib, time\n\ndef ask(prompt):\n"
        "    pathlib.Path('asked').touch()\n    time.sleep(300)\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW_SERVER],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        assert process.stdout
        url = process.stdout.readline().strip()
        asking = threading.Thread(target=_ask_in_vain, args=(f"{url}/targets",))
        asking.start()
        while not (tmp_path / "asked").exists():
            assert asking.is_alive(), "the request was refused"
            time.sleep(0.05)
        process.send_signal(sent)

        assert process.wait(60) == code
        asking.join()
    finally:
        process.kill()
        process.communicate()


def _ask_in_vain(address: str) -> None:
    form = {"target": "slow", "prompt": "Well?"}
    with suppress(httpx.HTTPError):
        httpx.post(address, data=form, headers={"accept": "text/html"}, timeout=120)


def test_the_first_line_is_the_address_to_open(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "steelyard", "serve", "--port", "0", "--no-worker"]
    public = ["--public-url", "http://localhost:8080"]
    for words, address in (([], r"http://127\.0\.0\.1:\d+/"), (public, "http://localhost:8080/")):
        process = subprocess.Popen(
            [*command, *words], cwd=tmp_path, stdout=subprocess.PIPE, encoding="utf-8"
        )
        assert process.stdout
        first = process.stdout.readline()
        process.kill()
        process.communicate()

        assert re.fullmatch(rf"open {address} in a browser  \(no login, .*\)\n", first)


UPLOAD = (
    b"POST /v1/validate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 2\r\n\r\n{"
)


def test_a_request_in_flight_ends_before_the_server_does(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker") as server, connected(server.url) as client:
        client.sendall(UPLOAD)
        wait_for_requests(server, 1)
        server.process.terminate()
        time.sleep(0.5)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{server.url}/healthz").raise_for_status()
        client.sendall(b"}")
        (answer,) = answers(read_all(client))

        assert answer.status == 200
        assert server.process.wait(5) == 0


def test_a_second_signal_stops_the_server_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker") as server, connected(server.url) as client:
        client.sendall(UPLOAD)
        wait_for_requests(server, 1)
        server.process.terminate()
        time.sleep(0.3)
        assert server.process.poll() is None
        server.process.terminate()

        assert server.process.wait(3) == 130


def test_an_event_stream_is_closed_when_the_server_stops(tmp_path: Path) -> None:
    with serving(tmp_path, "--no-worker") as server, httpx.Client(base_url=server.url) as client:
        run_id = queued_run(client)
        with client.stream("GET", f"/v1/runs/{run_id}/events") as stream:
            lines = stream.iter_lines()
            assert "event: state" in [next(lines) for _ in range(4)]
            server.process.terminate()
            rest = list(lines)

        assert "event: end" not in rest
        assert server.process.wait(5) == 0


def queued_run(client: httpx.Client) -> str:
    """The id of a run that nobody executes."""
    check = {"id": "any", "kind": "must_contain_any", "phrases": ["a"]}
    rubric = {"id": "r", "version": "1.0", "scoring": {"combine": "all_pass"}, "checks": [check]}
    assert client.post("/v1/rubrics", json=rubric).status_code == 201
    document = {
        "dataset_id": "d",
        "dataset_version": "1",
        "schema_version": "1.0",
        "created_at": "2026-01-15T10:00:00Z",
        "records": [{"record_id": "a", "input": {"prompt": "a"}}],
    }
    posted = client.post("/v1/runs?target=echo&rubric=r@1.0", json=document)
    assert posted.status_code == 202, posted.text
    return posted.json()["run_id"]


def wait_for_requests(server: ServeProcess, number: int) -> None:
    """Wait until so many requests are in flight beside our own."""
    for _ in range(100):
        text = httpx.get(f"{server.url}/metrics").text
        if f"steelyard_http_requests_in_flight {number + 1}" in text:
            return
        time.sleep(0.05)
    raise AssertionError("the request has not begun")


def test_a_port_in_use_is_one_line_with_a_remedy(
    tmp_path: Path, steelyard: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = steelyard("serve", "--port", str(taken.getsockname()[1]), cwd=tmp_path)

    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert "stop what listens there, or choose another port" in done.stderr


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("worker",)], ids=["serve", "worker"])
def test_a_store_of_a_newer_version_is_refused_at_the_start(
    tmp_path: Path,
    steelyard: Callable[..., subprocess.CompletedProcess[str]],
    words: tuple[str, ...],
) -> None:
    open_project(tmp_path).store.close()
    raise_schema_version(tmp_path)

    done = steelyard(*words, cwd=tmp_path)

    assert done.returncode == 3
    assert "schema version 999" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_server_stops_when_a_newer_version_takes_over_its_store(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "steelyard", "worker"]
    with serving(tmp_path) as server:
        worker = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, encoding="utf-8")
        time.sleep(2)
        raise_schema_version(tmp_path)

        assert server.process.wait(20) == 3
        _, err = worker.communicate(timeout=20)

    assert worker.returncode == 3
    assert "schema version 999" in err

    assert "schema version 999" in server.log_lines()[-1]


def test_every_request_is_one_line_of_json_whatever_it_holds(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-format", "json") as server, httpx.Client() as client:
        client.get(
            f"{server.url}/v1/runs/%0A%1b[31m%e2%80%ae?token=secret",
            headers={"x-request-id": "a1"},
        )
        stop(server)

    (line,) = [json.loads(one) for one in server.log_lines()]
    assert line["request_id"] == "a1"
    assert line["path"] == "/v1/runs/\n\x1b[31m\u202e"
    assert (line["method"], line["status"], line["level"]) == ("GET", 400, "info")
    assert line["ms"] >= 0
    assert line["actor"]
    assert "secret" not in server.log.read_text(encoding="utf-8")


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_workers_log_in_the_format_of_their_server(tmp_path: Path, log_format: str) -> None:
    write_project(tmp_path)
    twins = document([record("a"), record("b")])
    query = {"target": "slow", "rubric": "rubric/found@1.0"}
    with (
        serving(tmp_path, "--log-format", log_format) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        run_id = client.post("/v1/runs", params=query, json=twins).json()["run_id"]
        deadline = time.monotonic() + 30
        while client.get(f"/v1/runs/{run_id}").json()["completed_at"] is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        stop(server)

    said = [one for one in server.log_lines() if "have the content of another" in one]
    assert len(said) == 2  # of the server, which has checked the run, and of the worker
    if log_format == "json":
        loggers = {json.loads(one)["logger"] for one in server.log_lines()}
        assert "steelyard.worker" in loggers
    else:
        assert all(re.match(r"\d\d:\d\d:\d\d \w+ ", one) for one in server.log_lines())


def test_the_log_for_people_escapes_control_characters(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-format", "text") as server, httpx.Client() as client:
        client.get(f"{server.url}/%0Afaked%1b[31m")
        client.get(f"{server.url}/healthz")
        stop(server)

    (line,) = server.log_lines()
    assert "GET /\\nfaked\\x1b[31m 404" in line


def test_a_log_level_leaves_out_what_is_beneath(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-level", "warning") as server, httpx.Client() as client:
        client.get(f"{server.url}/v1/runs")
        stop(server)

    assert not server.log_lines()


@pytest.mark.trials
def test_a_change_of_the_project_file_restarts_a_reloading_server(tmp_path: Path) -> None:
    (tmp_path / "steelyard.yaml").write_text("targets: {}\n", encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-P", "-m", "steelyard", "serve", "--port", port, "--reload"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        first = started_at(port)
        (tmp_path / "steelyard.yaml").write_text("limits: {}\n", encoding="utf-8")
        second = started_at(port, after=first)
        process.terminate()
        _, err = process.communicate(timeout=20)
    finally:
        process.kill()

    assert second > first
    assert process.returncode == 0
    assert "steelyard.yaml has changed; restarting" in err


CHECK = """
from dataclasses import dataclass
from typing import ClassVar

from steelyard.model.outcome import Outcome

@dataclass(frozen=True)
class Odd:
    kind: ClassVar[str] = "odd"
    {setting}: str = ""

    def check(self, trace, case):
        return Outcome(passed=True, score=1.0, reason="odd")
"""


@pytest.mark.trials
def test_a_change_of_a_plugin_restarts_a_reloading_server_even_after_a_broken_one(
    tmp_path: Path,
) -> None:
    """The package of a check, which is on the path with its entry point while it is written."""
    project, site = tmp_path / "project", tmp_path / "site"
    for folder in (project, site / "odd-1.0.dist-info"):
        folder.mkdir(parents=True)
    module = site / "odd_package.py"
    for path, text in (
        (project / "steelyard.yaml", "{}\n"),
        (site / "odd-1.0.dist-info" / "METADATA", "Name: odd\nVersion: 1.0\n"),
        (
            site / "odd-1.0.dist-info" / "entry_points.txt",
            "[steelyard.checks]\nodd = odd_package:Odd\n",
        ),
        (module, CHECK.format(setting="word")),
    ):
        path.write_text(text, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-P", "-m", "steelyard", "serve", "--port", port, "--reload"]
    env = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command, cwd=project, env=env, stderr=subprocess.PIPE, encoding="utf-8"
    )
    try:
        first = started_at(port)
        before = settings_taken(port)
        module.write_text("class Odd(:\n", encoding="utf-8")
        second = started_at(port, after=first)
        module.write_text(CHECK.format(setting="phrase"), encoding="utf-8")
        started_at(port, after=second)
        after = settings_taken(port)
        process.terminate()
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()

    assert (before, after) == (["word"], ["phrase"])
    assert err.count("odd_package.py has changed; restarting") == 2
    assert "Traceback" not in err


def settings_taken(port: str) -> list[str]:
    """Which of two settings the check of a package has."""
    return [name for name in ("word", "phrase") if is_taken(port, name)]


def is_taken(port: str, setting: str) -> bool:
    rubric = {
        "id": "odd",
        "version": "1.0.0",
        "checks": [{"id": "odd", "kind": "odd", setting: "x"}],
        "scoring": {"combine": "all_pass"},
    }
    url = f"http://127.0.0.1:{port}/v1/validate"
    answer = httpx.post(url, json=rubric, params={"kind": "rubric"}, timeout=60)
    return not any(setting in one["path"] for one in answer.json()["findings"])


def started_at(port: str, after: float = 0.0) -> float:
    """When the server at a port started; waits for a later start."""
    for _ in range(200):
        try:
            text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
            start = float(text.split("process_start_time_seconds ")[-1].split()[0])
            if start > after:
                return start
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError("the server was not started")


def stop(server: ServeProcess) -> None:
    server.process.terminate()
    assert server.process.wait(10) == 0


def raise_schema_version(root: Path) -> None:
    database = sqlite3.connect(root / ".steelyard" / "steelyard.db")
    with database:
        database.execute("UPDATE schema_version SET version = 999")
    database.close()
