"""Review queues over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from fakes.review_project import answers
from fakes.trace_sets import batch, sent_span
from steelyard.model.labels.annotation import Wanted
from steelyard.usecases.traces.receive_spans import receive_spans

if TYPE_CHECKING:
    from servers.review_service import ReviewService


def number_of(item: dict[str, Any]) -> int:
    """The number of the record of an item."""
    return int(item["record_id"][1:])


def test_a_queue_says_how_many_labels_a_precision_needs(service: ReviewService) -> None:
    body = {"name": "All", "run_id": service.run_id, "fill": {"by": "random", "size": 39}}
    answer = service.client.post("/v1/queues", json=body)
    made = answer.json()

    assert answer.status_code == 201
    assert made["queue_id"].startswith("queue_")
    assert made["items"] == 39
    precision = made["precision"]
    assert (precision["labels"], precision["records"]) == (39, 39)
    assert precision["effective"] == pytest.approx(39)
    assert precision["needed"] == [
        {"half_width": 0.05, "labels": 381, "note": "more than it has: add records"},
        {"half_width": 0.1, "labels": 93, "note": "more than it has: add records"},
    ]


def test_without_a_size_a_small_run_goes_to_review_as_a_whole(service: ReviewService) -> None:
    for fill in ({}, {"by": "verdict"}, {"by": "near_threshold"}):
        body = {"name": "All", "run_id": service.run_id, "fill": fill}
        made = service.client.post("/v1/queues", json=body)

        assert (made.status_code, made.json()["items"]) == (201, 39), made.text


@pytest.mark.parametrize(
    "fill",
    [
        {"by": "stratified", "size": 8, "slice": "tags"},
        {"by": "verdict", "size": 10},
        {"by": "near_threshold", "size": 8},
    ],
)
def test_labels_keep_the_inclusion_probability_of_every_design(
    service: ReviewService, fill: dict[str, Any]
) -> None:
    queue = service.queue(fill=fill)
    ann = service.person(f"ann {fill['by']}")
    while (claimed := ann.claim(queue)).status_code == 200:
        item = claimed.json()
        assert ann.submit(item, answers(number_of(item))).status_code == 200
    stored = service.project.queue_ports().queues.items(queue)
    kept = service.project.review_ports().annotations.all(Wanted(annotator=ann.name))
    found = {one.row["record_id"]: one.row["inclusion_prob"] for one in kept}

    assert found == {one.record_id: one.inclusion_prob for one in stored}
    assert len(found) == fill["size"]
    assert all(0 < (one.inclusion_prob or 0) <= 1 for one in stored)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"run_id": None}, "name either"),
        ({"trace_set": "set_1"}, "name either"),
        ({"rubric": "rubric/jury@1.0.0"}, "has checks and no questions"),
        ({"rubric": "rubric/gone"}, "gone"),
        ({"fill": {"size": 40}}, "39 can be chosen"),
        ({"fill": {"by": "jury_split", "size": 2}}, "jury"),
        ({"fill": {"by": "random", "slice": "tags"}}, "only a stratified draw"),
        ({"reviews_required": 0}, "reviews_required"),
        ({"name": " "}, "name"),
    ],
)
def test_a_queue_that_cannot_be_made_is_refused(
    service: ReviewService, changed: dict[str, Any], told: str
) -> None:
    body = {"name": "Desk", "run_id": service.run_id, "fill": {"size": 5}, **changed}
    answer = service.client.post("/v1/queues", json=body)

    assert answer.status_code == 400, answer.text
    assert told in answer.json()["error"]["message"]


def test_a_rubric_that_was_archived_gets_no_new_queue(service: ReviewService) -> None:
    rubric = {
        "name": "Old",
        "version": "old-v1",
        "status": "published",
        "questions": [{"key": "good", "label": "Good?", "type": "yes_no"}],
    }
    service.client.post("/v1/rubrics", json=rubric).raise_for_status()
    service.client.post("/v1/rubrics/old-v1/archive").raise_for_status()
    body = {"name": "Desk", "run_id": service.run_id, "rubric": "rubric/old-v1"}

    answer = service.client.post("/v1/queues", json=body)

    assert answer.status_code == 400
    assert "rubric/old-v1 is archived" in answer.json()["error"]["message"]


def test_people_review_the_traces_of_a_set(service: ReviewService) -> None:
    calls = [sent_span(number, 1) for number in range(1, 5)]
    receive_spans(service.project.trace_ports(), batch(*calls), "from-desk")
    body = {"name": "Traces", "trace_set": "from-desk", "rubric": "desk-v1", "fill": {"size": 3}}
    client, ann = service.client, service.person("ann")
    made = [client.post("/v1/queues", json=body) for _ in range(2)]
    queues = [service.project.queue_ports().queues.find(one.json()["queue_id"]) for one in made]
    item = ann.claimed(queues[0].queue_id)
    refused = client.post("/v1/queues", json={**body, "fill": {"by": "verdict", "size": 2}})
    unnamed = client.post("/v1/queues", json={**body, "rubric": None})
    unknown = client.post("/v1/queues", json={**body, "trace_set": "nowhere"})

    assert [(one.status_code, one.json()["items"]) for one in made] == [(201, 3)] * 2
    assert queues[0].source == queues[1].source
    assert item["trace"]["messages"][-1]["content"] == "A word."
    assert item["turns"] == 1
    assert ann.submit(item, {"trace": {"correct": 1}, "turns": {}}).status_code == 200
    for answer, told in (
        (refused, "no verdict to choose by"),
        (unnamed, "name the question rubric"),
        (unknown, "nowhere"),
    ):
        assert answer.status_code == 400
        assert told in answer.json()["error"]["message"]


def test_an_unknown_run_or_queue_is_not_found(service: ReviewService) -> None:
    body = {"name": "Desk", "run_id": "run_unknown"}
    ann = service.person("ann")

    assert service.client.post("/v1/queues", json=body).status_code == 400
    assert ann.claim("queue_unknown").status_code == 404
    for path in ("", "/items", "/answers", "/progress", "/disagreements"):
        answer = service.client.get(
            f"/v1/queues/queue_unknown{path}",
            params={} if path in {"/progress", "/disagreements"} else {"annotator": "ann"},
        )
        assert answer.status_code == 404, path


def test_a_queue_is_worked_through(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 2}, instructions="Read all of it.", name="Short")
    ann = service.person("ann the first")
    first = ann.claimed(queue)

    assert first["trace"]["messages"][0]["content"] == "One moment."
    assert first["request"]["messages"][0]["content"].startswith("Question")
    assert (first["turns"], first["revision"], first["draft"]) == (
        2,
        0,
        {"trace": {}, "turns": {}},
    )
    assert first["rubric"]["version"] == "desk-v1"
    saved = ann.write(first, answers={"trace": {"quality": 3}, "turns": {}})
    assert saved.json()["revision"] == 1
    again = ann.claimed(queue)
    assert again["draft"] == {"trace": {"quality": 3}, "turns": {}}
    done = ann.submit(again, answers(number_of(again)))
    assert (done.json()["revision"], done.json()["exposure"]) == (2, "blind")
    second = ann.claimed(queue)
    assert ann.do(second, "skip", token=second["token"], reason="not my field").status_code == 204
    assert ann.claim(queue).status_code == 204

    shown = ann.get(f"/v1/queues/{queue}")
    assert (shown["name"], shown["instructions"]) == ("Short", "Read all of it.")
    assert shown["progress"] == {
        "submitted": 1,
        "skipped": 1,
        "deferred": 0,
        "open": 0,
        "waiting": 0,
        "complete": 1,
    }
    states = [one["state"] for one in ann.get(f"/v1/queues/{queue}/items")["data"]]
    assert states == ["submitted", "skipped"]
    own = ann.get(f"/v1/queues/{queue}/answers")["data"]
    assert [(one["state"], one["reason"], one["exposure"]) for one in own] == [
        ("submitted", None, "blind"),
        ("skipped", "not my field", None),
    ]
    bob = service.person("bob the first")
    others = [one["state"] for one in bob.get(f"/v1/queues/{queue}/items")["data"]]
    assert others == ["taken", "waiting"]
    assert queue in [one["queue_id"] for one in bob.get("/v1/queues")["data"]]


def test_whoever_leads_sees_everybody(service: ReviewService) -> None:
    queue = service.queue(fill={"by": "verdict", "size": 4}, reviews_required=2)
    ann, bob = service.person("ann who is led"), service.person("bob who is led")
    for person, changed in ((ann, {}), (bob, {"tone": "cold", "note": "Bob was here."})):
        item = person.claimed(queue)
        said = answers(number_of(item), **changed)
        said["trace"]["tone"] = "cold" if changed else "warm"
        assert person.submit(item, said).status_code == 200
    item = bob.claimed(queue)
    flag = bob.do(item, "flag", kind="guideline_gap", text="Which tone is this?", **bob.named)
    assert flag.status_code == 204
    bob.do(item, "skip", token=item["token"], reason="no idea")
    seen = service.client.get(f"/v1/queues/{queue}/progress").json()

    assert (seen["items"], seen["reviews"], seen["complete"]) == (4, 2, 1)
    assert seen["fill"]["by"] == "verdict"
    assert seen["fill"]["strata"]["failed"]["of"] + seen["fill"]["strata"]["passed"]["of"] == 39
    told = {one["annotator"]: (one["submitted"], one["skipped"]) for one in seen["people"]}
    assert told == {ann.name: (1, 0), bob.name: (1, 1)}
    (pair,) = seen["pairs"]
    assert pair["people"] == [ann.name, bob.name]
    assert pair["questions"]["tone"] == {"same": 0, "compared": 1, "rate": 0.0}
    assert pair["questions"]["correct"]["rate"] == 1.0
    assert "note" not in pair["questions"]
    assert [one["kind"] for one in seen["flags"]] == ["guideline_gap"]
    assert [one["reason"] for one in seen["skips"]] == ["no idea"]


def test_a_closed_queue_offers_no_items(service: ReviewService) -> None:
    queue = service.queue()
    item = service.person("ann").claimed(queue)
    closed = service.client.put(f"/v1/queues/{queue}", json={"status": "closed"})

    assert closed.json()["status"] == "closed"
    assert service.person("bob").claim(queue).status_code == 409
    done = service.person("ann").submit(item, answers(number_of(item)))
    assert done.status_code == 200
    service.client.put(f"/v1/queues/{queue}", json={"status": "open"})
    assert service.person("bob").claim(queue).status_code == 200


def test_without_login_a_name_is_needed(service: ReviewService) -> None:
    queue = service.queue()
    answer = service.client.post(f"/v1/queues/{queue}/claim", json={})

    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["arguments"] == ["annotator"]
    assert service.client.get(f"/v1/queues/{queue}/items").status_code == 400


@pytest.mark.parametrize("name", ["Maria", " maria", "MARIA", "\uff4daria"])
def test_another_spelling_of_somebody_is_nobody_new(service: ReviewService, name: str) -> None:
    queue = service.queue(reviews_required=2)
    first = service.person("maria")
    item = first.claimed(queue)
    refused = service.person(name).claim(queue)
    given = first.do(item, "reassign", annotator="maria", to=name)
    named = service.client.get(f"/v1/queues/{queue}/progress").json()["people"]

    assert (refused.status_code, given.status_code) == (400, 400)
    assert "is another spelling of 'maria'" in refused.json()["error"]["message"]
    assert [one["annotator"] for one in named] == ["maria"]
    assert first.claim(queue).status_code == 200
    assert service.person("mariam").claim(queue).status_code == 200


def test_queues_and_what_is_done_in_them_are_logged(service: ReviewService) -> None:
    queue = service.queue()
    ann = service.person("ann")
    item = ann.claimed(queue)
    ann.submit(item, answers(number_of(item)))
    ann.do(item, "undo", **ann.named)
    logged = service.project.audit_log.list(20)

    verbs = [(one.verb, one.subject) for one in logged][:3]
    assert verbs == [
        ("undo_annotation", item["item_id"]),
        ("submit_annotation", item["item_id"]),
        ("create_queue", queue),
    ]


def test_one_more_person_is_asked_about_tied_items_alone(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 3, "seed": 4}, reviews_required=2)
    path = f"/v1/queues/{queue}"
    assert service.client.post(f"{path}/ties").status_code == 409
    for name in ("tie ann", "tie bob"):
        person = service.person(name)
        for _ in range(3):
            item = person.claimed(queue)
            is_apart = item["place"] == 2 and name == "tie bob"
            said = answers(1, correct=0, quality=0, tone="cold") if is_apart else answers(3)
            assert person.submit(item, said).json()["exposure"] == "blind"
    third = service.person("tie cid")
    before = third.claim(queue).status_code
    asked = service.client.post(f"{path}/ties").json()["items"]
    again = service.client.post(f"{path}/ties").json()["items"]
    progress = service.client.get(f"{path}/progress").json()
    item = third.claimed(queue)
    third.submit(item, answers(3)).raise_for_status()

    assert before == 204
    assert asked == [item["item_id"]]
    assert item["place"] == 2
    assert again == []  # it waits for somebody already
    assert (progress["complete"], progress["reviews"]) == (2, 6)
    assert third.claim(queue).status_code == 204
    settled = service.client.post(f"{path}/ties")
    assert "divided evenly on no item" in settled.json()["error"]["message"]


def test_more_people_can_be_asked_about_every_item_but_not_fewer(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 2})
    path = f"/v1/queues/{queue}"
    ann, bob = service.person("more ann"), service.person("more bob")
    for _ in range(2):
        ann.submit(ann.claimed(queue), answers(1)).raise_for_status()
    assert bob.claim(queue).status_code == 204
    raised = service.client.put(path, json={"reviews_required": 2})
    lowered = service.client.put(path, json={"reviews_required": 1})
    progress = service.client.get(f"{path}/progress").json()

    assert (raised.status_code, raised.json()["reviews_required"]) == (200, 2)
    assert bob.claim(queue).status_code == 200
    assert progress["complete"] == 0
    assert lowered.status_code == 400
    assert "can only be raised" in lowered.json()["error"]["message"]
    assert service.client.put(path, json={}).status_code == 400
    assert service.client.put(path, json={"status": "closed"}).json()["status"] == "closed"
