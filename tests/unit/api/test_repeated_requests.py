"""Requests with an Idempotency-Key whose first request is still being served."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from sqlalchemy import select, update

import steelyard
from servers.run_service import document, record, write_project
from servers.service import served
from steelyard.api import repeated_requests
from steelyard.project import Project, open_project
from steelyard.store.tables import idempotency_keys as keys

pytestmark = pytest.mark.usefixtures("both_stores")

if TYPE_CHECKING:
    import httpx

BODY = document([record("a")])
ASKED = {"target": "echo", "rubric": "rubric/found@1.0"}
HEADERS = {"idempotency-key": "k"}


class Served(NamedTuple):
    """A request was answered, and whether its answer is there can be changed."""

    project: Project
    client: httpx.Client
    run_id: str

    def set_answered(self, *, is_answered: bool) -> None:
        """Let the answer be there, or let the request seem to be in progress."""
        with self.project.store.engine.begin() as connection:
            connection.execute(update(keys).values(status=202 if is_answered else None))

    def repeat(self) -> httpx.Response:
        """Send it again."""
        return self.client.post("/v1/runs", json=BODY, params=ASKED, headers=HEADERS)

    def start_run(self) -> str:
        """Send it again with the client of the library."""
        with steelyard.Client(str(self.client.base_url)) as client:
            return client.start_run(BODY, idempotency_key="k", **ASKED).run_id


@pytest.fixture
def service(tmp_path: Path) -> Generator[Served]:
    write_project(tmp_path)
    with open_project(tmp_path) as project, served(project) as client:
        with steelyard.Client(str(client.base_url)) as first:
            run_id = first.start_run(BODY, idempotency_key="k", **ASKED).run_id
        yield Served(project, client, run_id)


def uploads(project: Project) -> int:
    return len(list((project.root / ".steelyard" / "spool").glob("upl_*")))


def test_a_repeat_waits_for_the_answer_of_the_first_request(service: Served) -> None:
    service.set_answered(is_answered=False)
    with ThreadPoolExecutor(3) as pool:
        repeats = [pool.submit(service.start_run) for _ in range(3)]
        while uploads(service.project) < 4:  # all have arrived
            pass
        service.set_answered(is_answered=True)

        assert {one.result(60) for one in repeats} == {service.run_id}

    with service.project.store.engine.connect() as connection:
        assert len(connection.execute(select(keys)).all()) == 1
    assert len(service.client.get("/v1/runs").json()["data"]) == 1
    assert uploads(service.project) == 1


def test_a_repeat_that_has_waited_long_enough_is_told_when_to_come_again(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated_requests, "_PATIENCE_S", 0.0)
    service.set_answered(is_answered=False)

    refused = service.repeat()
    other = service.client.post("/v1/runs", json={}, params=ASKED, headers=HEADERS)

    assert (refused.status_code, refused.headers["retry-after"]) == (409, "1")
    assert (other.status_code, "retry-after" in other.headers) == (409, False)
    assert uploads(service.project) == 1
    with ThreadPoolExecutor(1) as pool:
        repeat = pool.submit(service.start_run)
        while uploads(service.project) < 2 and not repeat.done():
            pass
        service.set_answered(is_answered=True)
        assert repeat.result(60) == service.run_id


def test_two_keys_in_one_request_are_refused(service: Served) -> None:
    headers = [("idempotency-key", "a"), ("idempotency-key", "b")]

    answer = service.client.post("/v1/runs", json=BODY, params=ASKED, headers=headers)

    assert answer.status_code == 400
    assert "at most one Idempotency-Key" in answer.json()["error"]["message"]
    assert uploads(service.project) == 1
