"""Trace sets over HTTP."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from fakes.inspect_logs import sample, write_zip
from fakes.trace_sets import batch, hexadecimal, sent_span
from servers.run_service import RunService, run_service, write_project

TRACE: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Say a word."},
        {"role": "assistant", "content": "A word."},
    ]
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunService]:
    root = tmp_path_factory.mktemp("traces")
    write_project(root)
    with run_service(root) as made:
        spans = [sent_span(number, 1) for number in range(1, 4)]
        made.client.post("/v1/otlp/v1/traces", json=batch(*spans))
        yield made


def add(service: RunService, body: bytes, media: str, **query: str) -> Any:
    headers = {"content-type": media}
    return service.client.post("/v1/trace-sets", content=body, headers=headers, params=query)


def test_sets_and_traces_are_listed_and_shown(service: RunService) -> None:
    get = service.client.get
    shown = get("/v1/trace-sets/desk").json()
    listed = get("/v1/trace-sets", params={"limit": 100}).json()["data"]
    page = get("/v1/trace-sets/desk/traces", params={"limit": 2}).json()
    rest = get("/v1/trace-sets/desk/traces", params={"cursor": page["next_cursor"]}).json()
    trace = get(f"/v1/trace-sets/desk/traces/{hexadecimal(1, 32)}").json()

    assert (shown["traces"], shown["spans"]) == (3, 3)
    assert "desk" in [one["name"] for one in listed]
    ids = [one["trace_id"] for one in (*page["data"], *rest["data"])]
    assert ids == [hexadecimal(number, 32) for number in (1, 2, 3)]
    assert (page["data"][0]["turns"], page["data"][0]["model"]) == (1, "m-1")
    assert trace["trace"]["messages"][1] == {"role": "assistant", "content": "A word."}


@pytest.mark.parametrize(
    "path", ["nothing", "nothing/traces", "desk/traces/1", f"nothing/traces/{'1' * 32}"]
)
def test_what_is_not_there_is_404(service: RunService, path: str) -> None:
    assert service.client.get(f"/v1/trace-sets/{path}").status_code == 404


def test_a_file_is_added_once(service: RunService, tmp_path: Path) -> None:
    lines = "".join(json.dumps({**TRACE, "model": name}) + "\n" for name in "ab") + "{}\n"
    first = add(service, lines.encode(), "application/x-ndjson", trace_set="lines")
    again = add(service, lines.encode(), "application/x-ndjson", trace_set="lines")
    named_json = add(service, lines.encode(), "application/json", trace_set="lines")
    log = write_zip(tmp_path / "l.eval", sample()).read_bytes()
    inspect = add(service, log, "application/octet-stream", trace_set="logs", name="l.eval")

    assert (named_json.status_code, named_json.json()["known"]) == (201, 2)
    assert (first.status_code, first.json()["new"], first.json()["left_out"]) == (201, 2, 1)
    assert first.json()["first_left_out"][0]["place"] == "line 3"
    assert (again.json()["new"], again.json()["known"]) == (0, 2)
    assert inspect.json()["new"] == 1


@pytest.mark.parametrize(
    ("body", "media", "query"),
    [
        (b"{}", "application/json", {}),
        (b"{}", "application/json", {"trace_set": "a b"}),
        (b"{}", "application/json", {"trace_set": "x"}),
        (b"{", "application/json", {"trace_set": "x"}),
        (b"{}", "text/plain", {"trace_set": "x"}),
        (b"{}", "application/octet-stream", {"trace_set": "x", "name": "x.txt"}),
        (b"no zip", "application/octet-stream", {"trace_set": "x", "name": "x.eval"}),
        (b"a: 1", "application/yaml", {"trace_set": "x"}),
    ],
)
def test_what_is_no_file_of_traces_is_refused(
    service: RunService, body: bytes, media: str, query: dict[str, str]
) -> None:
    assert add(service, body, media, **query).status_code == 400


def test_a_set_is_judged_like_a_run(service: RunService) -> None:
    answer = service.client.post("/v1/trace-sets/desk/judge", json={"rubric": "rubric/found@1.0"})
    run = service.when(answer.json()["run_id"])
    records = service.client.get(f"/v1/runs/{run['run_id']}/records").json()["data"]

    assert (answer.status_code, answer.json()["records"]) == (202, 3)
    assert (run["status"], run["dataset_id"], run["target"]) == ("completed", "desk", "desk")
    assert run["summary"]["pass_count"] == 3
    assert [one["record_id"] for one in records] == [hexadecimal(n, 32) for n in (1, 2, 3)]


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("nothing", {"rubric": "rubric/found@1.0"}, 404),
        ("desk", {"rubric": "rubric/none@1.0"}, 400),
        ("desk", {"rubric": "rubrics/found.yaml"}, 400),
        ("desk", {"rubric": "rubric/found@1.0", "judge": "judges/x.md"}, 400),
        ("desk", {}, 400),
        ("desk", {"rubric": "rubric/found@1.0", "other": 1}, 400),
    ],
)
def test_what_cannot_be_judged_is_refused(
    service: RunService, name: str, body: dict[str, str], status: int
) -> None:
    answer = service.client.post(f"/v1/trace-sets/{name}/judge", json=body)

    assert answer.status_code == status


def test_a_set_is_deleted(service: RunService) -> None:
    lines = (json.dumps(TRACE) + "\n").encode()
    add(service, lines, "application/x-ndjson", trace_set="short")
    deleted = [service.client.delete("/v1/trace-sets/short").status_code for _ in range(2)]

    assert deleted == [204, 404]
    assert service.client.get("/v1/trace-sets/short").status_code == 404
