"""Twenty annotators on one queue over HTTP, while the server is killed and started again."""

from __future__ import annotations

import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.review_project import QUESTIONS
from servers.run_service import document, record, write_project
from servers.service_process import ServiceProcess
from steelyard.library import evaluate
from steelyard.model.labels.annotation import Wanted
from steelyard.project import open_project

PEOPLE, REVIEWS = 20, 3
TIMEOUT_S = 60.0


@dataclass
class Crowd:
    """People who answer until nothing is left, whatever becomes of the server."""

    service: ServiceProcess
    queue: str
    acknowledged: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    lock: threading.Lock = field(default_factory=threading.Lock)
    wrong: list[str] = field(default_factory=list[str])

    def work(self, number: int) -> None:
        """One person."""
        name = f"person-{number:02}"
        url = f"http://127.0.0.1:{self.service.port}"
        with httpx.Client(base_url=url, timeout=TIMEOUT_S) as client:
            try:
                while (item := self._claim(client, name)) is not None:
                    self._answer(client, name, item)
            except AssertionError as error:
                self.wrong.append(str(error))

    def _claim(self, client: httpx.Client, name: str) -> dict[str, Any] | None:
        answer = _sent(client, "POST", f"/v1/queues/{self.queue}/claim", {"annotator": name})
        assert answer.status_code in {200, 204}, answer.text
        return answer.json() if answer.status_code == 200 else None

    def _answer(self, client: httpx.Client, name: str, item: dict[str, Any]) -> None:
        path, revision = f"/v1/annotations/{item['item_id']}", item["revision"]
        said: dict[str, Any] = {"trace": {"quality": item["place"] % 6}, "turns": {}}
        body = {"token": item["token"], "revision": revision, "answers": said}
        saved = _sent(client, "PUT", path, body)
        assert saved.status_code == 200, saved.text
        said["trace"]["correct"] = item["place"] % 2
        body["revision"] = saved.json()["revision"]
        done = _sent(client, "POST", f"{path}/submit", body)
        assert done.status_code == 200, done.text
        with self.lock:
            self.acknowledged[name, item["record_id"]] = item["place"] % 2


def _sent(client: httpx.Client, method: str, path: str, body: Any) -> httpx.Response:
    """Send a request until it is answered, as a browser with an outbox does."""
    for _ in range(1000):
        try:
            return client.request(method, path, json=body)
        except httpx.TransportError:
            threading.Event().wait(0.1)
    raise AssertionError(f"{method} {path} was never answered")


def make_run(root: Path, items: int) -> str:
    """A finished run of as many responses as there are items."""
    write_project(root)
    questions = {**QUESTIONS, "questions": QUESTIONS["questions"][:2]}
    (root / "rubrics" / "desk-v1.json").write_text(json.dumps(questions), encoding="utf-8")
    rows = document([record(f"r{n:03}", f"Question {n}?") for n in range(items)])
    (root / "desk.json").write_text(json.dumps(rows), encoding="utf-8")
    with open_project(root) as project:
        rubric, data = "rubric/found@1.0", root / "desk.json"
        return evaluate(data, target="echo", rubric=rubric, project=project).run_id


@pytest.mark.parametrize(
    ("items", "kills"),
    [
        pytest.param(50, 2, marks=pytest.mark.trials),
        pytest.param(500, 5, marks=pytest.mark.soak),
    ],
)
def test_no_answer_is_lost_and_no_item_is_reviewed_too_often(
    tmp_path: Path, items: int, kills: int
) -> None:
    run_id = make_run(tmp_path, items)
    service = ServiceProcess(tmp_path)
    service.start()
    try:
        body = {
            "name": "Crowd",
            "run_id": run_id,
            "rubric": "desk-v1",
            "reviews_required": REVIEWS,
            "fill": {"size": items},
        }
        url = f"http://127.0.0.1:{service.port}/v1/queues"
        made = httpx.post(url, json=body, timeout=TIMEOUT_S)
        assert made.status_code == 201, made.text
        crowd = Crowd(service, made.json()["queue_id"])
        people = [threading.Thread(target=crowd.work, args=(one,)) for one in range(PEOPLE)]
        for person in people:
            person.start()
        for kill in range(1, kills + 1):
            while len(crowd.acknowledged) < kill * items * REVIEWS // (kills + 1):
                assert not crowd.wrong, crowd.wrong
                threading.Event().wait(0.05)
            service.kill_server()
            service.start()
        for person in people:
            person.join()
    finally:
        service.process.terminate()
        service.process.wait(30)

    assert crowd.wrong == []
    check(tmp_path, crowd, items)


def check(root: Path, crowd: Crowd, items: int) -> None:
    """Every acknowledged answer is there, and every item has as many as required."""
    with open_project(root) as project:
        kept: list[Any] = [one.row for one in project.review_ports().annotations.all(Wanted())]
        counts = project.queue_ports().progress.counts(crowd.queue)
    found = {
        (str(row["annotator"]), str(row["record_id"])): row["answers"]["trace"]["correct"]
        for row in kept
    }
    per_item = Counter(record_id for _, record_id in found)

    assert found == crowd.acknowledged
    assert len(kept) == len(found) == items * REVIEWS
    assert set(per_item.values()) == {REVIEWS}
    assert (counts.items, counts.complete, counts.reviews) == (items, items, items * REVIEWS)
