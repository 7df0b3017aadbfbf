"""The results of a run over HTTP."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fakes.served_runs import make_runs
from servers.service import served
from steelyard.project import open_project
from unit.api.conftest import Service


def artifact(service: Service, run_id: str, name: str) -> list[dict[str, Any]]:
    """The rows of a sealed file."""
    path: Path = service.runs.root / ".steelyard" / "runs" / run_id / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def listed(service: Service, run_id: str, what: str = "records", **query: Any) -> list[Any]:
    """A list, all pages of it."""
    rows: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = service.client.get(f"/v1/runs/{run_id}/{what}", params={**query, **cursor}).json()
        rows += page["data"]
        if page["next_cursor"] is None:
            return rows
        cursor = {"cursor": page["next_cursor"]}


def content(service: Service, run_id: str, name: str) -> dict[str, Any]:
    """A sealed file that is one document."""
    path: Path = service.runs.root / ".steelyard" / "runs" / run_id / name
    return json.loads(path.read_bytes())


def ids(rows: list[Any]) -> str:
    """The ids of records."""
    return "".join(row["record_id"] for row in rows)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_records_are_the_rows_of_predictions(service: Service, limit: int) -> None:
    run_id = service.runs.repeated

    assert listed(service, run_id, limit=limit) == artifact(service, run_id, "predictions.jsonl")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, "abcü"),
        ({"status": "timeout"}, "c"),
        ({"passed": "true"}, "aü"),
        ({"passed": "false"}, "b"),
        ({"check": "says_yes"}, "abü"),
        ({"check": "is_short", "passed": "true"}, "abü"),
        ({"tag": "short"}, "ab"),
        ({"tag": "Short"}, ""),
        ({"label": "timeout"}, "c"),
        ({"q": "longer question"}, "ü"),
        ({"q": ""}, "abcü"),
        ({"q": "\x00"}, ""),
        ({"record_id": "ü"}, "ü"),
        ({"record_id": "x"}, ""),
        ({"sort": "-index"}, "ücba"),
        ({"sort": "score"}, "baüc"),
        ({"sort": "-score", "limit": "1"}, "aübc"),
        ({"sort": "status"}, "abüc"),
    ],
)
def test_records_are_filtered_and_sorted(
    service: Service, query: dict[str, str], found: str
) -> None:
    assert ids(listed(service, service.runs.done, **query)) == found


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize(
    ("field", "name"),
    [("latency", "latency_ms"), ("tokens", "total_tokens"), ("cost", "cost_usd")],
)
def test_records_are_sorted_by_what_they_took(
    service: Service, field: str, name: str, sign: str
) -> None:
    """Page by page; those without a value come last, whichever way round."""
    run_id = service.runs.repeated
    rows = artifact(service, run_id, "predictions.jsonl")
    known = [row for row in rows if row[name] is not None]
    unknown = [row for row in rows if row[name] is None]
    known.sort(key=lambda row: row[name], reverse=bool(sign))

    assert listed(service, run_id, sort=f"{sign}{field}", limit=1) == [*known, *unknown]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "101"},
        {"limit": "0"},
        {"limit": "ten"},
        {"cursor": "no cursor"},
        {"cursor": ""},
        {"cursor": "ü"},
        {"status": "unknown"},
        {"passed": "perhaps"},
        {"sort": "weight"},
        {"colour": "red"},
    ],
)
def test_a_query_that_makes_no_sense_is_refused(service: Service, query: dict[str, str]) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.done}/records", params=query)

    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "invalid_request"


def test_a_cursor_belongs_to_its_list(service: Service) -> None:
    address = f"/v1/runs/{service.runs.done}/records"
    cursor = service.client.get(address, params={"limit": 1}).json()["next_cursor"]
    answer = service.client.get(address, params={"cursor": cursor, "passed": "true"})

    assert answer.status_code == 400


def test_a_record_has_its_failure_beside_its_result(service: Service) -> None:
    run_id = service.runs.repeated
    body = service.client.get(f"/v1/runs/{run_id}/records/2", params={"repeat": 1}).json()
    rows = artifact(service, run_id, "predictions.jsonl")
    failure = next(row for row in artifact(service, run_id, "failures.jsonl") if row["repeat"])

    assert body.pop("request_id")
    assert body.pop("failure") == failure
    assert body.pop("judgements") == []
    assert body == next(row for row in rows if (row["index"], row["repeat"]) == (2, 1))


@pytest.mark.parametrize(
    "index", ["4", "-1", "007", "1.0", "a", "٣", "%00", "9223372036854775807", "9" * 400, "1e3"]
)
def test_an_index_without_a_record_is_not_found(service: Service, index: str) -> None:
    for part in ("", "/attempts"):
        answer = service.client.get(f"/v1/runs/{service.runs.done}/records/{index}{part}")

        assert answer.status_code == 404


@pytest.mark.parametrize(("repeat", "status"), [("0", 200), ("1", 404), ("-1", 400), ("x", 400)])
def test_a_repeat_is_one_that_was_made(service: Service, repeat: str, status: int) -> None:
    address = f"/v1/runs/{service.runs.done}/records/0"

    answer = service.client.get(address, params={"repeat": repeat})

    assert answer.status_code == status
    if status == 404:
        assert f"no record '0' (repeat {repeat}) in run_" in answer.text


def test_a_repeat_beyond_64_bits_is_refused(service: Service) -> None:
    address = f"/v1/runs/{service.runs.done}/records/0"

    assert service.client.get(address, params={"repeat": "9" * 30}).status_code == 400


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_attempts_are_the_rows_of_the_log(service: Service, limit: int) -> None:
    run_id = service.runs.repeated
    log = [row for row in artifact(service, run_id, "attempt_logs.jsonl") if row["index"] == 2]

    assert len(log) == 6
    assert listed(service, run_id, "records/2/attempts", limit=limit) == log
    assert listed(service, run_id, "records/2/attempts", limit=limit, repeat=1) == log[3:]


def test_failures_are_the_rows_of_their_file(service: Service) -> None:
    run_id = service.runs.repeated
    rows = artifact(service, run_id, "failures.jsonl")

    assert len(rows) == 2
    assert listed(service, run_id, "failures", limit=1) == rows
    assert listed(service, run_id, "failures", label="timeout", record_id="c") == rows
    assert listed(service, run_id, "failures", status="cancelled") == []


def test_metrics_are_those_of_the_sealed_file(service: Service) -> None:
    run_id = service.runs.done
    body = service.client.get(f"/v1/runs/{run_id}/metrics").json()

    assert body.pop("request_id")
    assert body == content(service, run_id, "metrics_summary.json")


@pytest.mark.parametrize("limit", [1, 2, 100])
def test_slices_are_those_of_the_sealed_file(service: Service, limit: int) -> None:
    run_id = service.runs.done
    slices = content(service, run_id, "metrics_by_slice.json")["slices"]

    assert len(slices) > 2
    assert listed(service, run_id, "slices", limit=limit) == slices


@pytest.mark.parametrize("query", [{"limit": "101"}, {"cursor": "none"}, {"colour": "red"}])
def test_a_page_of_slices_that_cannot_be_is_refused(
    service: Service, query: dict[str, str]
) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.done}/slices", params=query)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


def test_a_run_that_is_not_finished_shows_what_it_has(service: Service) -> None:
    run_id = service.runs.stopped

    assert ids(listed(service, run_id)) == "a"
    assert listed(service, run_id, "failures") == []


@pytest.mark.parametrize("what", ["metrics", "slices", "artifacts", "artifacts/predictions.jsonl"])
def test_what_only_a_finished_run_has_is_a_conflict(service: Service, what: str) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.stopped}/{what}")

    assert answer.status_code == 409
    assert "running" in answer.json()["error"]["message"]


PARTS = [
    "records",
    "records/0",
    "records/0/attempts",
    "failures",
    "metrics",
    "slices",
    "artifacts",
]


@pytest.mark.parametrize("what", PARTS)
def test_a_pruned_run_is_gone(service: Service, what: str) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.gone}/{what}")

    assert (answer.status_code, answer.json()["error"]["code"]) == (410, "gone")


@pytest.mark.parametrize(
    ("what", "status"),
    [*((part, 410) for part in PARTS[:4]), ("metrics", 200), ("slices", 200), ("artifacts", 200)],
)
def test_numbers_outlive_the_records(service: Service, what: str, status: int) -> None:
    answer = service.client.get(f"/v1/runs/{service.runs.without_records}/{what}")

    assert answer.status_code == status


@pytest.mark.parametrize("what", PARTS)
@pytest.mark.parametrize("name", ["run_unknown", "..", "%2e%2e", "run_", "latest~99"])
def test_a_run_that_no_name_fits_is_not_found(service: Service, name: str, what: str) -> None:
    assert service.client.get(f"/v1/runs/{name}/{what}").status_code == 404


def test_a_run_is_found_by_a_part_of_its_id_or_as_the_latest(service: Service) -> None:
    whole = service.runs.stopped
    found = [
        service.client.get(f"/v1/runs/{name}/records").json()["data"]
        for name in (whole, whole[:-4], "latest")
    ]

    assert found[0] == found[1] == found[2]
    assert found[0]


def test_records_are_read_from_the_files_where_the_store_has_none(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    with closing(sqlite3.connect(tmp_path / ".steelyard" / "steelyard.db")) as store, store:
        store.execute("DELETE FROM results")
    with open_project(tmp_path) as project, served(project) as client:
        service = Service(client, runs)
        rows = listed(service, runs.repeated, limit=3)
        timeouts = listed(service, runs.repeated, "failures", limit=1)
        shown = client.get(f"/v1/runs/{runs.repeated}/records/1").json()

    assert rows == artifact(service, runs.repeated, "predictions.jsonl")
    assert timeouts == artifact(service, runs.repeated, "failures.jsonl")
    assert shown["record_id"] == "b"
