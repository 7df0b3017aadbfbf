"""Posted runs to their end: states, retries and artifacts, as contract 2 has them."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from servers.run_service import RunService, document, record, run_service, write_project

ARTIFACTS = {
    *("run_manifest.json", "input_dataset.json", "record_validation.jsonl", "predictions.jsonl"),
    *("attempt_logs.jsonl", "metrics_summary.json", "metrics_by_slice.json", "failures.jsonl"),
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunService]:
    root = tmp_path_factory.mktemp("posted")
    write_project(root)
    settings = root / "steelyard.yaml"
    text = settings.read_text(encoding="utf-8").replace("backoff_s: [0]", "backoff_s: [1.5]")
    settings.write_text(text, encoding="utf-8")
    with run_service(root) as running:
        yield running


@pytest.fixture(scope="module")
def retried(service: RunService) -> tuple[Any, Any]:
    """A run while one of its records waits for a retry, and at its end."""
    posted = document([record("a"), record("b", "fail, word"), record("c", 3)])
    run_id = service.post(posted, target="moody").json()["run_id"]
    return service.when(run_id, "retrying"), service.when(run_id)


def test_a_run_is_retrying_while_only_retries_are_left(retried: tuple[Any, Any]) -> None:
    waiting, ended = retried

    assert waiting["progress"] == {"total": 3, "done": 2, "failed": 1, "retrying": 1}
    states = [one["state"] for one in ended["states"]]
    assert states[:4] == ["queued", "validating", "running", "retrying"]
    assert states[-2:] == ["finalizing", "completed_with_failures"]
    assert ended["progress"] == {"total": 3, "done": 3, "failed": 2, "retrying": 0}


def test_states_have_times_in_order(retried: tuple[Any, Any]) -> None:
    _, run = retried

    times = [one["at"] for one in run["states"]]
    assert times == sorted(times)
    assert times[0] == run["created_at"]
    assert times[-1] == run["completed_at"]
    assert run["created_at"] <= run["started_at"] <= run["completed_at"]


def test_each_attempt_is_kept(service: RunService, retried: tuple[Any, Any]) -> None:
    path = f"/v1/runs/{retried[1]['run_id']}/records/1/attempts"

    attempts = service.client.get(path).json()["data"]

    assert [one["attempt"] for one in attempts] == [1, 2]
    assert all(one["at"] and one["error_code"] == "timeout" for one in attempts)
    assert all(one["latency_ms"] is not None for one in attempts)


def test_a_finished_run_has_the_eight_artifacts(
    service: RunService, retried: tuple[Any, Any]
) -> None:
    run_id = retried[1]["run_id"]

    listed = service.client.get(f"/v1/runs/{run_id}/artifacts").json()["data"]
    manifest = service.client.get(f"/v1/runs/{run_id}/artifacts/run_manifest.json").json()
    kept = service.client.get(f"/v1/runs/{run_id}/artifacts/input_dataset.json").json()

    assert {one["name"] for one in listed} == ARTIFACTS
    assert (manifest["dataset_id"], manifest["dataset_version"]) == ("posted", "1")
    assert manifest["schema_version"] == "1.0"
    assert [one["record_id"] for one in kept["records"]] == ["a", "b"]


def test_one_failure_does_not_stop_other_records(
    service: RunService, retried: tuple[Any, Any]
) -> None:
    summary = retried[1]["summary"]

    assert summary["total_records"] == 3
    assert summary["valid_records"] == 2
    assert summary["evaluated_records"] == 1
    assert summary["failed_records"] == 2
    assert summary["skipped_records"] == 0
