"""Hosts that share PostgreSQL and a bucket and no folder: each takes up what another began."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from sqlalchemy import text

import steelyard
from checker import check_run, comparable
from fakes.stores import SETTING, stores_on_server
from fakes.warm_command import Done, run_warm
from servers.in_thread import in_thread
from servers.openai_server import COMPLETION, serving
from servers.run_service import document, record
from servers.seaweed import Seaweed, seaweed
from servers.service_process import ServiceProcess, write_project
from steelyard.project import open_project
from steelyard.store.database import open_database
from steelyard.usecases.runs.execute import create_run
from steelyard.usecases.runs.suites import SuiteChoice, choose

pytestmark = pytest.mark.trials
KEY = "c3RlZWx5YXJkLXRlc3RzLXN0ZWVseWFyZC10ZXN0cy0="
OTHER_KEY = KEY[::-1].replace("=", "A", 1)[:43] + "="
LONG_AGO = "2001-01-01T00:00:00.000+00:00"
JSON = ("--format", "json")


@dataclass
class Endpoint:
    """Answers at once, or when a test lets it."""

    is_held: bool = False
    calls: int = 0

    async def answer(self, _request: web.Request) -> web.StreamResponse:
        self.calls += 1
        while self.is_held:
            await asyncio.sleep(0.02)
        return web.json_response(COMPLETION)


@dataclass
class Host:
    """A folder with the project file and nothing else that others have."""

    root: Path
    address: str

    def run(self, *words: str, code: int = 0) -> Done:
        """What a command says."""
        done = run_warm(self.root, *words)
        assert done.code == code, (words, done)
        return done

    @contextmanager
    def served(self, workers: int) -> Generator[ServiceProcess]:
        """A server on this host."""
        service = ServiceProcess(self.root, workers)
        service.start()
        try:
            yield service
        finally:
            service.process.terminate()
            service.process.wait(30)

    def folder(self, run_id: str) -> Path:
        """The copy of a run."""
        return self.root / ".steelyard" / "runs" / run_id

    def left(self) -> list[str]:
        """What is kept of uploads and inputs."""
        data = self.root / ".steelyard"
        found = (path for name in ("spool", "inputs") for path in (data / name).rglob("*"))
        return sorted(path.name for path in found if path.is_file())


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Generator[Seaweed]:
    with seaweed(tmp_path_factory.mktemp("weed") / "data") as found:
        yield found


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
def hosts(
    bucket: Seaweed, endpoint: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[tuple[Host, Host]]:
    """Two hosts of one project."""
    for name, value in {**bucket.environ, "STEELYARD_SPOOL_KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    address = f"s3://evals/{tmp_path.name}"
    with stores_on_server(os.environ), in_thread(serving(endpoint.answer)) as url:
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            write_project(tmp_path / name, url)
            with (tmp_path / name / "steelyard.yaml").open("a", encoding="utf-8") as stream:
                stream.write(
                    f"artifacts: {address}\n"
                    "suites: {small: {dataset: cases.json, target: live, rubric: any@1.0}}\n"
                )
        yield Host(tmp_path / "a", address), Host(tmp_path / "b", address)


def test_a_run_is_posted_to_one_host_and_executed_by_another(hosts: tuple[Host, Host]) -> None:
    one, two = hosts
    with one.served(workers=0) as front, two.served(workers=1):
        run_id = front.post(30)
        run = front.when_ended(run_id)
        pages = [front.get(f"/v1/runs/{run_id}/{part}") for part in ("records", "artifacts")]

    assert run["status"] == "completed"
    assert [page.status_code for page in pages] == [200, 200]
    for host in hosts:
        assert "30 of 30 evaluated" in host.run("show", run_id).stdout
        assert "changed" not in host.run("verify", run_id).stdout
        check_run(host.folder(run_id))
    assert comparable(one.folder(run_id)) == comparable(two.folder(run_id))
    again = one.run("regrade", run_id, "--rubric", "any", *JSON)
    derived = json.loads(again.stdout)["run_id"]
    assert "30 of 30 evaluated" in two.run("show", derived).stdout
    assert run_id in two.run("compare", derived, run_id, *JSON, code=0).stdout
    assert two.left() == []


def test_a_worker_that_dies_is_followed_by_one_of_another_host(
    hosts: tuple[Host, Host], endpoint: Endpoint
) -> None:
    one, two = hosts
    (one.root / "cases.json").write_text(
        json.dumps(document([record(f"r{n}", f"When? {n}") for n in range(20)])), encoding="utf-8"
    )
    endpoint.is_held = True
    with open_project(one.root) as project:
        ports = project.run_ports()
        (options,) = choose(ports, SuiteChoice(suite="small"))
        run_id = asyncio.run(create_run(ports, options)).run_id
        project.run_queue.add(run_id)
    (one.root / "cases.json").unlink()
    with one.served(workers=1) as first:
        wait_until(lambda: endpoint.calls > 0)
        first.process.kill()
        first.process.wait()
        endpoint.is_held = False
        with two.served(workers=1) as second:
            run = second.when_ended(run_id)

    assert (run["status"], run["summary"]["evaluated_records"]) == ("completed", 20)
    assert one.run("verify", run_id).code == 0
    check_run(one.folder(run_id))
    assert two.left() == []


def test_what_one_host_publishes_stops_or_prunes_the_other_uses_resumes_or_misses(
    hosts: tuple[Host, Host], endpoint: Endpoint
) -> None:
    one, two = hosts
    cases = json.dumps(document([record(f"r{n}", f"When? {n}") for n in range(8)]))
    (one.root / "cases.json").write_text(cases, encoding="utf-8")
    one.run("dataset", "publish", "cases.json")
    one.run("rubric", "publish", "rubrics/any.yaml")
    (two.root / "rubrics" / "any.yaml").unlink()
    run = ("run", "dataset/posted@1", "--target", "live", "--rubric", "rubric/any@1.0", *JSON)
    run_id = json.loads(two.run(*run).stdout)["run_id"]
    assert "8 of 8 evaluated" in one.run("show", run_id).stdout

    endpoint.is_held, asked_before = True, endpoint.calls
    words = [sys.executable, "-m", "steelyard", *run]
    stopped = subprocess.Popen(words, cwd=two.root, stdout=subprocess.DEVNULL)
    wait_until(lambda: endpoint.calls > asked_before)
    stopped.kill()
    stopped.wait()
    endpoint.is_held = False
    resumed = json.loads(one.run("resume", "latest", *JSON).stdout)
    assert resumed["metrics"]["evaluated_records"] == 8
    assert two.run("verify", resumed["run_id"]).code == 0

    change("UPDATE run_states SET at = :at", {"at": LONG_AGO})
    one.run("prune", "--yes")
    assert two.folder(run_id).exists()
    two.run("prune", "--yes")
    for host in hosts:
        assert not host.folder(run_id).exists(), "each host removes its copies"
        assert "pruned    predictions.jsonl" in host.run("verify", run_id).stdout


def test_a_host_without_a_folder_knows_the_runs_of_the_server(
    hosts: tuple[Host, Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = hosts
    cases = json.dumps(document([record(f"r{n}", f"When? {n}") for n in range(3)]))
    (one.root / "cases.json").write_text(cases, encoding="utf-8")
    run = ("run", "cases.json", "--target", "live", "--rubric", "any", *JSON)
    run_id, other = (json.loads(one.run(*run).stdout)["run_id"] for _ in range(2))

    def on_a_new_host(*words: str) -> Done:
        shutil.rmtree(two.root / ".steelyard", ignore_errors=True)
        return two.run(*words)

    for words, says in (
        (("runs",), run_id),
        (("runs", *JSON), run_id),
        (("show", run_id), "3 of 3 evaluated"),
        (("show", "latest~1", *JSON), run_id),
        (("show", run_id, "r0"), "At nine."),
        (("verify", "latest~1"), "intact    predictions.jsonl"),
        (("compare", "latest~1", "latest", *JSON), run_id),
        (("report", run_id), "report.html"),
        (("export", run_id, "--to", "csv"), "At nine."),
    ):
        assert says in on_a_new_host(*words).stdout, words
    shutil.rmtree(two.root / ".steelyard")
    monkeypatch.chdir(two.root)
    assert steelyard.read_run().run_id == other
    shutil.rmtree(two.root / ".steelyard")
    with open_project(two.root) as project:
        assert project.run_folder("latest~1").name == run_id
    change("UPDATE run_states SET at = :at", {"at": LONG_AGO})
    assert run_id in on_a_new_host("prune").stdout


def test_a_host_with_another_key_is_told_before_it_takes_a_run(
    hosts: tuple[Host, Host], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = hosts
    with one.served(workers=0):
        monkeypatch.setenv("STEELYARD_SPOOL_KEY", OTHER_KEY)
        for command in ("serve", "worker"):
            refused = two.run(command, code=2)
            assert "is encrypted with another key than this host has" in refused.stderr
            assert "set STEELYARD_SPOOL_KEY to the same value on every host" in refused.stderr


def change(statement: str, values: dict[str, str]) -> None:
    """Change the store of the test."""
    engine = open_database(os.environ[SETTING])
    with engine.begin() as connection:
        connection.execute(text(statement), values)
    engine.dispose()


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 40
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)
