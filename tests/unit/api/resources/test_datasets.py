"""Datasets over HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fakes.projects import Project as Folder
from fakes.projects import row
from servers.service import served
from steelyard.errors import InvalidError
from steelyard.project import Project, open_project

if TYPE_CHECKING:
    import httpx

DOCUMENT: dict[str, Any] = {
    "dataset_id": "desk",
    "dataset_version": "2026.1",
    "schema_version": "1.0",
    "records": [{"record_id": "a", "input": {"prompt": "Open?"}, "reference": {"answer": "Yes"}}],
}
BAD: dict[str, Any] = {"record_id": "b", "input": {}}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    Folder(tmp_path)
    with open_project(tmp_path) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with served(project) as client:
        yield client


def send(client: httpx.Client, data: str, media: str, **query: Any) -> httpx.Response:
    headers = {"content-type": media}
    return client.post("/v1/datasets", content=data, params=query, headers=headers)


def test_a_publication_that_is_refused_names_the_records(client: httpx.Client) -> None:
    document = {**DOCUMENT, "records": [*DOCUMENT["records"], BAD]}
    assert client.post("/v1/datasets", json=document).status_code == 201

    answer = client.post("/v1/datasets/desk@2026.1/publish")

    message = "dataset/desk@2026.1: records[1]: missing input.prompt"
    assert answer.status_code == 409
    assert answer.json()["error"]["message"] == message
    assert answer.json()["error"]["details"]["refusals"] == [message]


def test_a_dataset_document_is_saved_under_its_own_name(client: httpx.Client) -> None:
    answer = client.post("/v1/datasets", json=DOCUMENT)
    again = client.post("/v1/datasets", json=DOCUMENT)
    shown = client.get("/v1/datasets/desk@2026.1").json()

    assert (answer.status_code, again.status_code) == (201, 200)
    assert answer.json()["reference"] == "dataset/desk@2026.1"
    assert (shown["contract"], shown["origin"]) == ("dataset_document", "store")
    assert (shown["status"], shown["versions"]) == ("draft", ["2026.1"])
    assert (shown["content"]["records"], shown["content"]["accepted"]) == (1, 1)


@pytest.mark.parametrize(
    ("data", "media", "contract"),
    [
        (json.dumps(row("a")), "application/x-ndjson", "eval_cases"),
        ("evalcases: [{id: a, expected_outcome: b, input: c}]", "application/yaml", "eval_cases"),
        ("questions: [{id: a, input: b, expected: c}]", "application/yaml", "question_set"),
        ('{"evals": [{"id": 1, "prompt": "a"}]}', "application/json", "evals_json"),
    ],
)
def test_a_file_of_any_contract_gets_a_name_and_a_version(
    client: httpx.Client, data: str, media: str, contract: str
) -> None:
    ending = {"application/x-ndjson": "jsonl", "application/yaml": "yaml"}.get(media, "json")

    named = send(client, data, media, name=f"mine.{ending}", version="3").json()
    unnamed = send(client, data, media).json()

    assert (named["reference"], named["contract"]) == ("dataset/mine@3", contract)
    assert unnamed["version"].startswith("sha256-")


def test_rejected_records_are_told_and_in_strict_mode_nothing_is_saved(
    client: httpx.Client,
) -> None:
    document = {**DOCUMENT, "records": [*DOCUMENT["records"], BAD]}

    strict = client.post("/v1/datasets", json=document, params={"strict": True})
    nothing = client.get("/v1/datasets").json()["data"]
    soft = client.post("/v1/datasets", json=document)
    hopeless = client.post("/v1/datasets", json={**DOCUMENT, "records": [BAD]})

    assert (strict.status_code, nothing) == (400, [])
    assert strict.json()["error"]["details"]["findings"] == soft.json()["findings"]
    assert (soft.status_code, soft.json()["rejected"]) == (201, 1)
    assert soft.json()["findings"][0]["code"] == "missing_required_field"
    assert hopeless.status_code == 400


def test_a_published_dataset_never_changes(client: httpx.Client) -> None:
    client.post("/v1/datasets", json=DOCUMENT)

    published = client.post("/v1/datasets/desk@2026.1/publish").json()
    other = client.post("/v1/datasets", json={**DOCUMENT, "description": "other"})
    same = client.post("/v1/datasets", json=DOCUMENT)

    assert published["outcome"] == "published"
    assert (other.status_code, same.status_code) == (409, 200)
    assert same.json()["status"] == "published"


def test_two_datasets_are_compared_record_by_record(client: httpx.Client) -> None:
    client.post("/v1/datasets", json=DOCUMENT)
    more = [*DOCUMENT["records"], {"record_id": "c", "input": {"prompt": "Closed?"}}]
    newer = {**DOCUMENT, "dataset_version": "2026.2", "records": more}
    client.post("/v1/datasets", json=newer)

    diff = client.get("/v1/datasets/desk@2026.1/diff", params={"to": "desk@2026.2"}).json()

    assert [(one["kind"], one["path"]) for one in diff["differences"]] == [
        ("changed", "version"),
        ("added", "records.c"),
    ]


def command(project: Project, *words: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-m", "steelyard", *words]
    return subprocess.run(program, cwd=project.root, capture_output=True, text=True, check=False)


def test_a_dataset_of_the_server_runs_from_the_command_line(
    client: httpx.Client, project: Project
) -> None:
    data = json.dumps(row("a", input="yes")) + "\n" + json.dumps(row("b", input="no"))
    send(client, data, "application/x-ndjson", name="mine.jsonl", version="1")

    listed = command(project, "dataset", "list")
    run = command(project, "run", "dataset/mine@1", "--target", "echo", "--format", "json")

    assert "mine@1" in listed.stdout
    assert json.loads(run.stdout)["metrics"]["pass_count"] == 1


@pytest.mark.parametrize("is_published", [True, False])
def test_an_archived_dataset_is_used_by_no_new_run(
    client: httpx.Client, project: Project, is_published: bool
) -> None:
    send(client, json.dumps(row("a")), "application/x-ndjson", name="mine.jsonl", version="1")
    if is_published:
        client.post("/v1/datasets/mine@1/publish")
    folder, dataset = Folder(project.root), Path("dataset/mine@1")
    folder.run(folder.ports(), dataset, target="echo")

    archived = client.post("/v1/datasets/mine@1/archive").json()

    assert archived["outcome"] == "archived"
    with pytest.raises(InvalidError, match="dataset/mine@1 is archived"):
        folder.run(folder.ports(), dataset, target="echo")


def test_a_dataset_that_was_sent_shows_no_file_of_the_server(
    client: httpx.Client, project: Project
) -> None:
    (project.root / "secret.txt").write_text("hush", encoding="utf-8")
    shows = [{"role": "user", "content": [{"type": "file", "value": "secret.txt"}]}]
    rows = [row("a"), {**row("b"), "input": shows}]

    data = "\n".join(map(json.dumps, rows))
    answer = send(client, data, "application/x-ndjson", name="mine.jsonl", version="1")
    folder = Folder(project.root)
    run = folder.run(folder.ports(), Path("dataset/mine@1"), target="echo")

    assert [one["code"] for one in answer.json()["findings"]] == ["missing_file"]
    assert run.metrics
    assert run.metrics.invalid_records == 1


@pytest.mark.parametrize("ref", ["none@1", "none", "a b@1", "@", "x" * 3000, "..@1", "%00@1"])
def test_a_name_of_no_dataset_is_not_found(client: httpx.Client, ref: str) -> None:
    assert client.get(f"/v1/datasets/{ref}").status_code == 404
    assert client.get(f"/v1/datasets/{ref}/diff", params={"to": "b@1"}).status_code == 404
    assert client.post(f"/v1/datasets/{ref}/publish").status_code == 404
    assert client.post(f"/v1/datasets/{ref}/archive").status_code == 404


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"name": "a b.jsonl"}, "cannot stand in a reference"),
        ({"name": "mine.jsonl", "version": "\u00e9"}, "cannot stand in a reference"),
        ({"name": f"{'x' * 101}.jsonl"}, "more than 100 characters"),
    ],
)
def test_a_name_that_no_reference_can_have_is_refused(
    client: httpx.Client, query: dict[str, str], message: str
) -> None:
    answer = send(client, json.dumps(row("a")), "application/x-ndjson", **query)

    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
