"""No caller over HTTP learns where on the server a project lies."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fakes.many_commands import run_many
from servers.run_service import RunService, document, record, run_service, write_project
from steelyard.project import open_project
from steelyard.usecases.results.run_events import run_events

if TYPE_CHECKING:
    import httpx

PLANTED = "planted-place"
RUBRIC = {"rubric": "rubric/found@1.0"}
RECORDED = """\
  heard: {provider: recorded, path: heard.jsonl}
  lost: {provider: recorded, path: no.jsonl}
"""
SUITES = "  absent: {dataset: datasets/absent.json, target: echo}\n"


class Answers:
    """Everything that a server has said, by the request."""

    def __init__(self, service: RunService) -> None:
        self.service = service
        self.said: list[tuple[str, bytes]] = []
        service.client.event_hooks["response"].append(self._note)

    def _note(self, answer: httpx.Response) -> None:
        request = answer.request
        self.said.append((f"{request.method} {request.url.raw_path.decode()}", answer.read()))

    def leaks(self) -> list[tuple[str, str]]:
        """The requests whose answers name the place, with what stands around it."""
        found: list[tuple[str, str]] = []
        for what, body in self.said:
            place = body.find(PLANTED.encode())
            if place >= 0:
                found.append((what, body[max(0, place - 200) : place + 200].decode()))
        return found

    def everything_of(self, run_id: str) -> None:
        """Read a run and all that it left."""
        get, address = self.service.client.get, f"/v1/runs/{run_id}"
        for part in ("", "/records", "/records/0", "/records/0/attempts", "/failures"):
            get(f"{address}{part}")
        for part in ("/metrics", "/slices", "/artifacts"):
            get(f"{address}{part}")
        with open_project(self.service.root) as project:
            events = run_events(project.store, run_id)
        # Streams say the same, and have no end before that of the run.
        self.said += ((f"GET {address}/events", str(one.data).encode()) for one in events)
        for one in get(f"{address}/artifacts").json().get("data", []):
            get(f"{address}/artifacts/{one['name']}")


@pytest.fixture
def answers(tmp_path: Path) -> Generator[Answers]:
    root = tmp_path / PLANTED
    write_project(root)
    settings = (root / "steelyard.yaml").read_text(encoding="utf-8")
    settings = settings.replace("suites:\n", f"{RECORDED}suites:\n{SUITES}")
    (root / "steelyard.yaml").write_text(settings, encoding="utf-8")
    row = '{"record_id": "a", "response_text": "a word"}\n'
    (root / "heard.jsonl").write_text(row, encoding="utf-8")
    with run_service(root) as service:
        yield Answers(service)


def posted(answers: Answers, *records: Any, **query: Any) -> str:
    rows = records or (record("a"), record("b", "fail, word"), record("c", 3))
    answer = answers.service.post(document(list(rows)), **query)
    assert answer.status_code == 202, answer.text
    run_id = answer.json()["run_id"]
    answers.service.when(run_id)
    answers.everything_of(run_id)
    return run_id


def changed(answers: Answers, run_id: str, verb: str, body: Any = None) -> str:
    answer = answers.service.client.post(f"/v1/runs/{run_id}/{verb}", json=body)
    assert answer.status_code == 202, answer.text
    made = answer.json()["run_id"]
    answers.service.when(made)
    answers.everything_of(made)
    return made


def test_runs_and_what_is_derived_from_them_name_no_place(answers: Answers) -> None:
    first = posted(answers, target="moody")
    (answers.service.root / "mended").touch()
    retried = changed(answers, first, "retry")
    graded = changed(answers, retried, "regrade", RUBRIC)
    again = changed(answers, graded, "regrade", RUBRIC)
    posted(answers, record("a"), target="heard")
    answers.service.client.get("/v1/compare", params={"a": first, "b": again})
    manifest = answers.service.client.get(f"/v1/runs/{again}/artifacts/run_manifest.json").json()

    assert manifest["derived_from"]["folder"] == f".steelyard/runs/{graded}"
    assert answers.leaks() == []


def test_runs_of_the_command_line_name_no_place(answers: Answers) -> None:
    root = answers.service.root
    dataset = root / "datasets" / "saved.json"
    row = '{"record_id": "s", "response_text": "a word"}'
    (root / "s.jsonl").write_text(row, encoding="utf-8")
    done = run_many(
        root,
        [
            (
                "run",
                str(dataset),
                "--target",
                "echo",
                "--rubric",
                str(root / "rubrics/found.yaml"),
            ),
            ("regrade", "latest", "--rubric", "rubric/found@1.0"),
            ("run", str(dataset), "--responses", str(root / "s.jsonl"), "--rubric", "found"),
            ("regrade", "latest", "--rubric", "rubric/found@1.0"),
        ],
    )
    runs = answers.service.client.get("/v1/runs").json()["data"]
    for run in runs:
        answers.everything_of(run["run_id"])

    assert [one.code for one in done] == [0] * 4, done
    assert len(runs) == 4
    assert answers.leaks() == []


def test_errors_name_no_place(answers: Answers) -> None:
    service, client, root = answers.service, answers.service.client, answers.service.root
    run_id = posted(answers, target="moody")
    rows = document([record("a")])
    refused: list[httpx.Response] = [
        service.post(rows, target="lost"),
        service.post(rows, target="nobody"),
        service.post(rows, rubric="rubric/absent@1.0"),
        service.post(rows, rubric="../found.yaml"),
        client.post("/v1/runs", params={"suite": "absent"}),
        client.post(f"/v1/runs/{run_id}/regrade", json={"rubric": "rubric/absent@1.0"}),
        client.get("/v1/runs/run_absent"),
        client.get(f"/v1/runs/{run_id}/artifacts/absent.json"),
    ]
    (root / "rubrics" / "broken.yaml").write_text("id: [", encoding="utf-8")
    refused.append(service.post(rows, rubric="rubric/broken@1.0"))
    shutil.copy(root / "rubrics" / "found.yaml", root / "rubrics" / "twin.yaml")
    refused.append(service.post(rows))
    (root / "rubrics" / "twin.yaml").unlink()
    folder = root / ".steelyard" / "runs" / run_id
    sealed = folder / "predictions.jsonl"
    sealed.chmod(0o600)
    sealed.write_bytes(sealed.read_bytes() + b" ")
    refused.append(client.post(f"/v1/runs/{run_id}/regrade", json=RUBRIC))
    refused.append(client.post(f"/v1/runs/{run_id}/retry"))
    refused.append(client.get(f"/v1/runs/{run_id}/artifacts/predictions.jsonl"))
    refused.append(client.get(f"/v1/runs/{run_id}/records"))
    sealed.unlink()
    refused.append(client.post(f"/v1/runs/{run_id}/regrade", json=RUBRIC))
    refused.append(client.get(f"/v1/runs/{run_id}/artifacts/predictions.jsonl"))
    for path in ("/v1/rubrics", "/v1/judges", "/v1/datasets", "/v1/suites", "/v1/targets"):
        client.get(path)
    for path in ("/v1/audit", "/readyz", "/metrics", "/v1/rubrics/found@1.0"):
        client.get(path)
    (root / "steelyard.yaml").write_text("targets: [", encoding="utf-8")
    refused.append(service.post(rows))

    assert all(one.status_code >= 400 for one in refused[:8])
    assert answers.leaks() == []


@pytest.mark.trials
@pytest.mark.parametrize("damaged", ["rubrics/found.yaml", "heard.jsonl", ".steelyard/spool"])
def test_a_run_that_cannot_go_on_names_no_place(answers: Answers, damaged: str) -> None:
    service, place = answers.service, answers.service.root / damaged
    slow = [record(str(number)) for number in range(40)]
    first = service.post(document(slow), target="slow").json()["run_id"]
    service.when(first, "running")
    ids = [
        service.post(document([record("a")]), target=target).json()["run_id"]
        for target in ("moody", "heard")
    ]
    for path in place.iterdir() if place.is_dir() else [place]:
        path.write_bytes(path.read_bytes().replace(b"word", b"other")[:-1])
    service.client.post(f"/v1/runs/{first}/cancel")
    for run_id in (first, *ids):
        run = until_stopped(service, run_id)
        answers.everything_of(run_id)
        service.client.post(f"/v1/runs/{run_id}/resume")
        if not run["completed_at"]:
            service.client.post(f"/v1/runs/{run_id}/cancel")
        service.when(run_id)
        answers.everything_of(run_id)

    assert answers.leaks() == []


def until_stopped(service: RunService, run_id: str) -> Any:
    deadline = time.monotonic() + 30
    while not ((run := service.run(run_id))["completed_at"] or run["resumable"]):
        assert time.monotonic() < deadline, run
        time.sleep(0.05)
    return run
