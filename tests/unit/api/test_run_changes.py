"""Cancel, resume, retry and regrade runs over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from typing import Any

import pytest

from servers.run_service import RunService, document, record, run_service, write_project

SLOW = document([record(f"r{n}") for n in range(400)])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[RunService]:
    root = tmp_path_factory.mktemp("changed")
    write_project(root)
    with run_service(root) as running:
        yield running


def change(service: RunService, run_id: str, what: str, **body: Any) -> Any:
    """The answer to a change of a run."""
    return service.client.post(f"/v1/runs/{run_id}/{what}", json=body or None)


def rows(service: RunService, run_id: str) -> list[Any]:
    """The rows of a finished run."""
    path = service.root / ".steelyard" / "runs" / run_id / "predictions.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_run_is_cancelled_while_it_goes_on_and_while_it_waits(service: RunService) -> None:
    busy, waiting = (service.post(SLOW, target="slow").json()["run_id"] for _ in range(2))
    service.when(busy, "running")

    answer = change(service, waiting, "cancel")

    began = time.monotonic()
    assert answer.status_code == 202
    assert answer.json()["run_id"] == waiting
    assert service.when(waiting)["status"] == "cancelled"
    assert time.monotonic() - began < 5
    assert service.run(busy)["status"] == "running"
    assert change(service, busy, "cancel").status_code == 202
    assert service.when(busy)["status"] == "cancelled"
    assert {change(service, busy, what).status_code for what in ("cancel", "resume")} == {409}


def test_failed_records_are_tried_again_in_a_new_run(service: RunService) -> None:
    posted = document([record("a"), record("b", "fail, word"), record("c", 3), record("d")])
    first = service.post(posted, target="moody").json()["run_id"]
    assert service.when(first)["summary"]["failed_records"] == 2
    mended = service.root / "mended"
    mended.touch()

    answer = change(service, first, "retry")

    assert answer.status_code == 202, answer.text
    assert answer.json()["derived_from"] == first
    again = service.when(answer.json()["run_id"])
    mended.unlink()
    assert again["status"] == "completed_with_failures"
    assert again["derived_from"] == first
    assert (again["progress"]["total"], again["summary"]["total_records"]) == (4, 4)
    found = {row["index"]: row["status"] for row in rows(service, again["run_id"])}
    assert found == {0: "evaluated", 1: "evaluated", 2: "invalid_record", 3: "evaluated"}


def test_a_redacted_copy_is_not_sent_to_a_target(service: RunService) -> None:
    posted = document([record("a", "fail, mail ada@example.com, word")])
    first = service.post(posted, target="moody").json()["run_id"]
    service.when(first)

    answer = change(service, first, "retry")

    assert answer.status_code == 409
    assert "post it again" in answer.json()["error"]["message"]


def test_stored_answers_are_graded_again(service: RunService) -> None:
    first = service.post(document([record("a"), record("b", "other")])).json()["run_id"]
    service.when(first)

    answer = change(service, first, "regrade", rubric="rubric/found@1.0")

    assert answer.status_code == 202, answer.text
    again = service.when(answer.json()["run_id"])
    assert again["summary"]["pass_count"] == 1
    assert again["derived_from"] == first


@pytest.mark.parametrize(
    ("what", "body", "status"),
    [
        ("regrade", {"rubric": "rubric/unknown@1.0"}, 400),
        ("regrade", {"rubric": "/etc/hosts.json"}, 400),
        ("regrade", {"rubric": 1}, 400),
        ("regrade", {"other": 1}, 400),
        ("retry", {}, 400),
        ("cancel", {}, 409),
        ("resume", {}, 409),
    ],
)
def test_what_cannot_be_changed_is_refused(
    service: RunService, what: str, body: Any, status: int
) -> None:
    run_id = service.post(document([record("a")])).json()["run_id"]
    service.when(run_id)

    assert change(service, run_id, what, **body).status_code == status


@pytest.mark.parametrize("what", ["cancel", "resume", "retry"])
def test_an_unknown_run_is_not_found(service: RunService, what: str) -> None:
    assert change(service, "run_unknown", what).status_code == 404


def test_an_unfinished_run_is_not_retried(service: RunService) -> None:
    run_id = service.post(SLOW, target="slow").json()["run_id"]

    answers = [change(service, run_id, "retry"), change(service, run_id, "resume")]

    assert [answer.status_code for answer in answers] == [409, 202]
    change(service, run_id, "cancel")
    service.when(run_id)
