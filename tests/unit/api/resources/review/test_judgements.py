"""Auto Judgment, agreement and adjudication over HTTP."""

from __future__ import annotations

import json
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from fakes.review_project import QUESTIONS, answers
from fakes.trace_sets import batch, sent_span
from servers.review_service import Reviewer, make_review_run
from servers.run_service import RunService, run_service
from steelyard.model.labels.annotation import Wanted
from steelyard.project import open_project
from steelyard.usecases.traces.receive_spans import receive_spans

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[RunService, str]]:
    """A server with a worker; its run was graded by something else than the question rubric."""
    root: Path = tmp_path_factory.mktemp("judged")
    run_id = make_review_run(root, rubric="rubric/jury@1.0.0")
    with run_service(root) as running:
        yield running, run_id


def made_queue(service: tuple[RunService, str], **more: Any) -> str:
    running, run_id = service
    body = {"name": "Desk", "run_id": run_id, "rubric": "desk-v1", **more}
    answer = running.client.post("/v1/queues", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["queue_id"]


def test_labels_of_a_divided_jury_keep_their_inclusion_probability(
    service: tuple[RunService, str],
) -> None:
    running, _ = service
    queue = made_queue(service, fill={"by": "jury_split", "size": 10})
    person = Reviewer(running.client, "jury reader")
    while (claimed := person.claim(queue)).status_code == 200:
        item = claimed.json()
        assert person.submit(item, answers(number_of(item))).status_code == 200
    with open_project(running.root) as project:
        kept = project.review_ports().annotations.all(Wanted(annotator="jury reader"))
        found = {one.row["record_id"]: one.row["inclusion_prob"] for one in kept}
        stored = project.queue_ports().queues.items(queue)

    assert found == {one.record_id: one.inclusion_prob for one in stored}
    assert len(found) == 10
    assert len({one.inclusion_prob for one in stored}) > 1
    assert all(0 < (one.inclusion_prob or 0) <= 1 for one in stored)


def number_of(item: dict[str, Any]) -> int:
    return int(item["record_id"][1:])


def test_a_judge_answers_the_items_of_a_queue_and_is_compared(
    service: tuple[RunService, str],
) -> None:
    running, run_id = service
    client = running.client
    queue = made_queue(service, fill={"size": 12}, reviews_required=2)
    started = client.post("/v1/judgements", json={"queue_id": queue})
    assert started.status_code == 202, started.text
    assert started.json()["derived_from"] == run_id
    judged = running.when(started.json()["run_id"])
    assert judged["status"] == "completed"
    assert judged["summary"]["total_records"] == 12

    empty = client.get(f"/v1/agreement/{queue}").json()
    assert [one["key"] for one in empty["questions"]] == [
        *("correct", "quality", "tone", "issues", "turn_ok"),
    ]
    assert empty["labels"] == 0

    for name, changed in (("ann", {}), ("bob", {"tone": "cold"})):
        person = Reviewer(client, name)
        while (claimed := person.claim(queue)).status_code == 200:
            item = claimed.json()
            said = answers(number_of(item), **changed)
            assert person.submit(item, said).json()["exposure"] in {"blind", "suggested"}
    found = client.get(f"/v1/agreement/{queue}").json()

    assert found["judged_in"] == judged["run_id"]
    assert (found["labels"], found["people"]) == (24, 2)
    tone = next(one for one in found["questions"] if one["key"] == "tone")
    side = tone["people"] or tone["seen"]
    assert side["items"] == 12
    assert sum(one["n"] for one in side["cells"]) == 12
    apart = [one for one in side["cells"] if one["answers"] == ["cold", "warm"]]
    assert len(apart[0]["items"]) == apart[0]["n"] == len(side["disagreements"])
    listed = {
        one["item_id"] for one in Reviewer(client, "ann").get(f"/v1/queues/{queue}/items")["data"]
    }
    assert {one["item_id"] for one in apart[0]["items"]} <= listed
    item_id = apart[0]["items"][0]["item_id"]
    shown = Reviewer(client, "ann").get(f"/v1/annotations/{item_id}/revealed")
    assert [one["run_id"] for one in shown["judged"]] == [judged["run_id"]]
    assert shown["judged"][0]["details"]["items"][0]["reasoning"]


def test_a_judge_answers_the_items_of_a_queue_over_a_trace_set(
    service: tuple[RunService, str],
) -> None:
    running, _ = service
    with open_project(running.root) as project:
        spans = batch(*(sent_span(number, 1) for number in range(1, 5)))
        receive_spans(project.trace_ports(), spans, "judged-later")
    body = {"name": "Traces", "trace_set": "judged-later", "rubric": "desk-v1"}
    queue = running.client.post("/v1/queues", json={**body, "fill": {"size": 4}}).json()
    started = running.client.post("/v1/judgements", json={"queue_id": queue["queue_id"]})

    assert started.status_code == 202, started.text
    judged = running.when(started.json()["run_id"])
    assert judged["summary"]["total_records"] == 4


def disputed_queue(service: tuple[RunService, str]) -> str:
    """A queue of three items: the second is disputed in one question, the third in two."""
    client = service[0].client
    queue = made_queue(service, fill={"size": 3, "seed": 5}, reviews_required=2)
    for name in ("first person", "second person"):
        person = Reviewer(client, name)
        for place in (1, 2, 3):
            said = answers(1, tone="warm", correct=1)
            if name == "second person" and place > 1:
                said["trace"] |= {"tone": "cold", "correct": int(place == 2)}
            assert person.submit(person.claimed(queue), said).status_code == 200
    return queue


def test_the_least_agreed_items_come_first_without_names(service: tuple[RunService, str]) -> None:
    client, queue = service[0].client, disputed_queue(service)
    answer = client.get(f"/v1/queues/{queue}/disagreements")
    found = answer.json()["data"]

    assert "person" not in answer.text
    assert [one["place"] for one in found] == [3, 2]
    assert [one["key"] for one in found[0]["questions"]] == ["correct", "tone"]
    assert {one["name"] for one in found[0]["given"]} == {"A", "B"}
    shown = client.get(f"/v1/annotations/{found[0]['item_id']}/disputed")
    assert "person" not in shown.text
    assert shown.json()["trace"]["messages"]


def test_a_gold_label_settles_an_item(service: tuple[RunService, str]) -> None:
    client, queue = service[0].client, disputed_queue(service)
    listed = f"/v1/queues/{queue}/disagreements"
    item_id = client.get(listed).json()["data"][0]["item_id"]
    path = f"/v1/annotations/{item_id}/adjudicate"
    gold = client.post(path, json={"answers": answers(1), "note": "B is right."})

    assert gold.status_code == 200, gold.text
    assert (gold.json()["revision"], gold.json()["note"]) == (1, "B is right.")
    provenance = [one["annotator"] for one in gold.json()["provenance"]["from"]]
    assert provenance == ["first person", "second person"]
    assert client.post(path, json={"answers": answers(1)}).status_code == 409
    unfit = client.post(path, json={"answers": {"trace": {"quality": 9}}, "revision": 1})
    assert unfit.status_code == 400
    left = [one["item_id"] for one in client.get(listed).json()["data"]]
    settled = client.get(listed, params={"settled": "true"}).json()["data"]
    assert item_id not in left
    assert item_id in [one["item_id"] for one in settled]
    assert client.get(f"/v1/queues/{queue}/progress").json()["adjudicated"] == 1
    compared = [one["gold"] for one in client.get(f"/v1/agreement/{queue}").json()["questions"]]
    assert [one["items"] for one in compared if one] != []
    assert all(one["same"] <= one["answers"] == 2 * one["items"] for one in compared if one)
    undone = Reviewer(client, "first person").do(
        {"item_id": item_id}, "undo", annotator="first person"
    )
    assert undone.status_code == 409


def test_an_unfinished_item_is_reassigned(service: tuple[RunService, str]) -> None:
    client = service[0].client
    queue = made_queue(service, fill={"size": 1})
    item = Reviewer(client, "ann").claimed(queue)
    path = f"/v1/annotations/{item['item_id']}/reassign"

    assert client.post(path, json={"annotator": "ann", "to": "bob"}).status_code == 204
    assert client.post(path, json={"annotator": "ann"}).status_code == 409
    assert Reviewer(client, "ann").claim(queue).status_code == 204
    assert Reviewer(client, "bob").claimed(queue)["item_id"] == item["item_id"]


def test_labels_of_a_queue_validate_the_judge_unchanged(service: tuple[RunService, str]) -> None:
    running, run_id = service
    queue = made_queue(service, fill={"size": 2, "seed": 9})
    person = Reviewer(running.client, "label giver")
    item = person.claimed(queue)
    person.submit(item, answers(number_of(item)))
    with open_project(running.root) as project:
        kept = project.review_ports().annotations.all(Wanted(annotator="label giver"))
        (row,) = [one.row for one in kept]

    assert row["run_id"] == run_id
    assert row["rubric"] == "rubric/desk-v1"
    assert row["inclusion_prob"] == pytest.approx(2 / 39)
    assert set(row) >= {"record_id", "annotator", "exposure", "answers", "rubric_sha256"}


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({}, 400, "name either"),
        ({"queue_id": "queue_unknown"}, 400, "no review queue"),
        ({"run_id": "run_unknown", "rubric": "desk-v1"}, 400, "run_unknown"),
    ],
)
def test_a_judgement_that_cannot_be_made_is_refused(
    service: tuple[RunService, str], body: dict[str, Any], status: int, told: str
) -> None:
    answer = service[0].client.post("/v1/judgements", json=body)

    assert answer.status_code == status, answer.text
    assert told in answer.json()["error"]["message"]


def test_a_run_is_judged_as_a_whole_with_a_named_rubric(service: tuple[RunService, str]) -> None:
    running, run_id = service
    missing = running.client.post("/v1/judgements", json={"run_id": run_id})
    other = running.client.post(
        "/v1/judgements", json={"run_id": run_id, "rubric": "rubric/jury@1.0.0"}
    )
    started = running.client.post("/v1/judgements", json={"run_id": run_id, "rubric": "desk-v1"})

    assert missing.status_code == 400
    assert other.status_code == 400
    assert running.when(started.json()["run_id"])["summary"]["evaluated_records"] == 39


def test_people_answer_the_rubric_as_it_was_when_their_queue_was_made(
    service: tuple[RunService, str],
) -> None:
    running, run_id = service
    path = running.root / "rubrics" / "desk-v2.json"
    draft: dict[str, Any] = {**QUESTIONS, "version": "desk-v2", "status": "draft"}
    path.write_text(json.dumps(draft), encoding="utf-8")
    body = {"name": "Draft", "run_id": run_id, "rubric": "desk-v2", "fill": {"size": 2}}
    queue = running.client.post("/v1/queues", json=body).json()["queue_id"]
    person = Reviewer(running.client, "early reader")
    person.submit(person.claimed(queue), answers(1))
    changed = {**draft, "questions": [{**draft["questions"][0], "label": "Is it true?"}]}
    path.write_text(json.dumps(changed), encoding="utf-8")
    item = person.claimed(queue)

    assert item["rubric"]["questions"][0]["label"] == "Is it right?"
    assert person.submit(item, answers(1)).status_code == 200
    assert running.client.get(f"/v1/agreement/{queue}").json()["labels"] == 2
    seen = running.client.get(f"/v1/queues/{queue}/progress").json()
    assert len(seen["outdated"]) == 2
    refused = running.client.post("/v1/judgements", json={"queue_id": queue})
    assert refused.status_code == 409
    again = {"by": "outdated", "queue": queue}
    made = running.client.post("/v1/queues", json={"name": "Again", "fill": again})
    twice = running.client.post("/v1/queues", json={"name": "Twice", "fill": again})

    assert (made.status_code, made.json()["items"]) == (201, 2)
    asked = person.claimed(made.json()["queue_id"])
    assert asked["rubric"]["questions"][0]["label"] == "Is it true?"
    assert running.client.get(f"/v1/queues/{queue}/progress").json()["outdated"] == []
    assert twice.status_code == 400
    assert "waits to be answered again" in twice.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"fill": {"by": "outdated"}}, "name either"),
        ({"fill": {"by": "outdated", "queue": "queue_unknown"}}, "no review queue"),
        ({"fill": {"by": "outdated", "queue": "x"}, "run_id": "latest"}, "no other source"),
    ],
)
def test_outdated_items_are_those_of_a_queue(
    service: tuple[RunService, str], body: dict[str, Any], told: str
) -> None:
    answer = service[0].client.post("/v1/queues", json={"name": "Again", **body})

    assert answer.status_code == 400
    assert told in answer.json()["error"]["message"]
