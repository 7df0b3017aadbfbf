"""Cancel, resume, retry and regrade runs over HTTP."""

from __future__ import annotations

import json
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
    waits = [service.run(run_id)["waiting"] for run_id in (busy, waiting)]

    answer = change(service, waiting, "cancel")

    assert waits == [False, True]
    assert answer.status_code == 202
    assert answer.json()["run_id"] == waiting
    assert service.when(waiting)["status"] == "cancelled"
    assert service.run(busy)["status"] == "running"
    assert change(service, busy, "cancel").status_code == 202
    assert service.when(busy)["status"] == "cancelled"
    assert {change(service, busy, what).status_code for what in ("cancel", "resume")} == {409}
    for run in (service.run(busy), service.run(waiting)):
        assert run["progress"]["failed"] == run["summary"]["failed_records"] == 0
        assert run["progress"]["done"] == run["summary"]["total_records"] == 400


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


def test_a_run_that_has_only_invalid_records_to_show_is_not_tried_again(
    service: RunService,
) -> None:
    posted = document([record("a"), record("b", 3)])
    first = service.post(posted).json()["run_id"]
    service.when(first)
    before = len(service.client.get("/v1/runs").json()["data"])

    answer = change(service, first, "retry")

    assert answer.status_code == 400, answer.text
    assert "no failed record to try again" in answer.json()["error"]["message"]
    assert len(service.client.get("/v1/runs").json()["data"]) == before


def test_a_redacted_copy_is_not_sent_to_a_target(service: RunService) -> None:
    posted = document([record("a", "fail, mail ada@example.com, word")])
    first = service.post(posted, target="moody").json()["run_id"]
    service.when(first)

    answer = change(service, first, "retry")

    assert answer.status_code == 409
    assert "post it again" in answer.json()["error"]["message"]


def test_a_run_that_ended_without_its_upload_has_no_records_to_derive_from(
    service: RunService,
) -> None:
    posted = document([record("broken", 3), *(record(f"r{n}") for n in range(400))])
    answers = [service.post(posted, target="slow").json() for _ in range(2)]
    busy, waiting = (answer["run_id"] for answer in answers)
    service.when(busy, "running")
    for upload in (service.root / ".steelyard" / "spool").glob("upl_*"):
        upload.unlink()
    for run_id in (waiting, busy):
        change(service, run_id, "cancel")
        assert service.when(run_id)["status"] == "cancelled"

    for answer in answers:  # what was acknowledged is what is counted
        counts = service.run(answer["run_id"])["summary"]
        accepted = answer["summary"]["accepted_records"]
        assert counts["total_records"] == answer["summary"]["total_records"] == 401
        assert counts["valid_records"] == accepted == 400
        assert counts["invalid_records"] == answer["summary"]["rejected_records"] == 1
        assert counts["evaluated_records"] + counts["cancelled_records"] == accepted
        assert counts["missing"]["missing"] == counts["cancelled_records"]
        assert counts["pass_rate_bounds"]["low"] == counts["pass_count"] / 401

    answers = [
        change(service, waiting, "retry"),
        change(service, waiting, "regrade", rubric="rubric/found@1.0"),
    ]

    for answer in answers:
        assert answer.status_code == 409, answer.text
        assert "has no copy of the records" in answer.json()["error"]["message"]


def test_stored_answers_are_graded_again(service: RunService) -> None:
    first = service.post(document([record("a"), record("b", "other")])).json()["run_id"]
    service.when(first)

    answer = change(service, first, "regrade", rubric="rubric/found@1.0")

    assert answer.status_code == 202, answer.text
    again = service.when(answer.json()["run_id"])
    assert again["summary"]["pass_count"] == 1
    assert again["derived_from"] == first


def test_invalid_records_stay_in_what_is_graded_again(service: RunService) -> None:
    posted = document([record("a"), record("b", 3), record("c", "other"), {"record_id": "d"}])
    parent = service.when(service.post(posted).json()["run_id"])

    derived = [parent]
    for _ in range(2):  # a regraded run can be regraded
        body = change(service, derived[-1]["run_id"], "regrade", rubric="rubric/found@1.0").json()
        derived.append(service.when(body["run_id"]))

    for run in derived:
        counts = run["summary"]
        assert run["status"] == "completed_with_failures"
        assert run["progress"] == {"total": 4, "done": 4, "failed": 2, "retrying": 0}
        names = ("total_records", "valid_records", "evaluated_records", "invalid_records")
        assert [counts[name] for name in names] == [4, 2, 2, 2]
        found = [(row["index"], row["record_id"], row["status"]) for row in _rows(service, run)]
        assert found == [
            (row["index"], row["record_id"], row["status"]) for row in _rows(service, parent)
        ]
        assert [row["errors"] for row in _rows(service, run, "record_validation")] == [
            row["errors"] for row in _rows(service, parent, "record_validation")
        ]


def _rows(service: RunService, run: Any, name: str = "predictions") -> list[Any]:
    path = service.root / ".steelyard" / "runs" / run["run_id"] / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


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


@pytest.mark.parametrize(("what", "body"), [("retry", {}), ("regrade", {"rubric": "found@1.0"})])
def test_a_key_starts_one_run(service: RunService, what: str, body: dict[str, Any]) -> None:
    posted = document([record("a"), record("b", "fail, word")])
    parent, other = (service.post(posted, target="moody").json()["run_id"] for _ in range(2))
    service.when(parent)
    service.when(other)
    headers = {"idempotency-key": f"once {what}"}

    def ask(run_id: str, **more: Any) -> Any:
        path = f"/v1/runs/{run_id}/{what}"
        return service.client.post(path, json={**body, **more} or None, headers=headers)

    first, again = ask(parent), ask(parent)

    assert (first.status_code, again.status_code) == (202, 202), first.text
    assert first.json()["run_id"] == again.json()["run_id"] != parent
    assert ask(other).status_code == 409
    if body:
        assert ask(parent, rubric="rubric/found@1.0").status_code == 409


def test_a_repeated_cancel_gets_the_same_answer(service: RunService) -> None:
    run_id = service.post(SLOW, target="slow").json()["run_id"]
    path, headers = f"/v1/runs/{run_id}/cancel", {"idempotency-key": "cancel"}
    first = service.client.post(path, headers=headers)
    assert service.when(run_id)["status"] == "cancelled"

    again = service.client.post(path, headers=headers)

    drop = {"request_id": None}
    assert (first.status_code, again.status_code) == (202, 202)
    assert {**again.json(), **drop} == {**first.json(), **drop}
    assert change(service, run_id, "cancel").status_code == 409


@pytest.mark.parametrize("what", ["cancel", "resume", "retry"])
@pytest.mark.parametrize("body", [b"junk", b"[]", b'{"x": 1}', b"1", b'{"rubric": "a@1"}'])
def test_a_body_where_none_is_taken_is_refused(
    service: RunService, what: str, body: bytes
) -> None:
    headers = {"content-type": "application/json"}

    answer = service.client.post(f"/v1/runs/run_unknown/{what}", content=body, headers=headers)

    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("what", ["cancel", "regrade", "resume", "retry"])
def test_two_idempotency_keys_are_refused(service: RunService, what: str) -> None:
    headers = [("idempotency-key", "a"), ("idempotency-key", "b")]
    body = {"rubric": "found@1.0"} if what == "regrade" else {}

    answer = service.client.post(f"/v1/runs/run_unknown/{what}", json=body, headers=headers)

    assert answer.status_code == 400
    assert "at most one Idempotency-Key" in answer.json()["error"]["message"]
