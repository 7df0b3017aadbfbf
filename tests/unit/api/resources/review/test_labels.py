"""The labels of a queue go out over HTTP, come in again, and validate the judge."""

from __future__ import annotations

import csv
import json
from typing import Any

import httpx
import pytest

from fakes.review_project import answers, label
from servers.review_service import ReviewService
from steelyard.client.sync_client import Client

NDJSON = {"content-type": "application/x-ndjson"}
CSV = {"content-type": "text/csv"}


def answered(service: ReviewService, *names: str, size: int = 3) -> str:
    """A queue whose items people have answered, each as the judge does."""
    queue = service.queue(reviews_required=len(names), fill={"size": size})
    for name in names:
        person = service.person(name)
        while (claimed := person.claim(queue)).status_code == 200:
            item = claimed.json()
            number = int(item["record_id"][1:])
            assert person.submit(item, answers(number)).status_code == 200
    return queue


def test_labels_have_names_and_then_gold_labels(service: ReviewService) -> None:
    queue = answered(service, "ann", "bob")
    item = service.person("ann").get(f"/v1/queues/{queue}/items")["data"][0]
    gold = f"/v1/annotations/{item['item_id']}/adjudicate"
    assert service.client.post(gold, json={"answers": answers(1)}).status_code == 200
    found = service.person("ann").ask("GET", f"/v1/queues/{queue}/labels", limit=5).json()
    rest = service.client.get(
        f"/v1/queues/{queue}/labels", params={"cursor": found["next_cursor"]}
    ).json()["data"]
    rows = [*found["data"], *rest]

    assert [row["annotator"] for row in rows[:6]] == ["ann", "bob"] * 3
    assert {row["queue_id"] for row in rows} == {queue}
    assert [bool(row["gold"]) for row in rows] == [*[False] * 6, True]
    assert rows[-1]["exposure"] == "after_commit"
    assert [one["annotator"] for one in rows[-1]["gold"]["from"]] == ["ann", "bob"]


@pytest.mark.parametrize(("form", "headers"), [("jsonl", NDJSON), ("csv", CSV)])
def test_exported_labels_come_in_as_the_same(
    service: ReviewService, form: str, headers: dict[str, str]
) -> None:
    queue = answered(service, "ann", "bob")
    path = f"/v1/queues/{queue}/labels/export"
    sent = service.client.get(path, params={"format": form})
    again = service.client.post("/v1/labels", content=sent.content, headers=headers)

    assert f'"{queue}.{form}"' in sent.headers["content-disposition"]
    assert again.status_code == 200, again.text
    counts = {name: again.json()[name] for name in ("read", "same", "imported", "refused")}
    assert counts == {"read": 6, "same": 6, "imported": 0, "refused": 0}


def test_whoever_reads_the_labels_is_blind_no_more(service: ReviewService) -> None:
    queue = service.queue(reviews_required=2, fill={"size": 39})
    ann, bob = service.person("reader"), service.person("writer")
    items = [bob.claimed(queue) for _ in range(1)]
    bob.submit(items[0], answers(int(items[0]["record_id"][1:])))
    assert service.client.get(f"/v1/queues/{queue}/labels").json()["data"]
    item = ann.claimed(queue, item_id=items[0]["item_id"])

    given = ann.submit(item, answers(int(item["record_id"][1:])))
    assert given.json()["exposure"] == "suggested"


def test_a_table_says_row_by_row_what_was_refused(service: ReviewService) -> None:
    text = "record_id,correct,quality\nr01,yes,4\nr02,no,9\nr03,,\n"
    query: dict[str, Any] = {
        "run": service.run_id,
        "rubric": "rubric/desk-v1",
        "annotator": "cy",
        "exposure": "suggested",
    }
    sent = service.client.post("/v1/labels", content=text, headers=CSV, params=query).json()
    unread = service.client.post("/v1/labels", content=text, headers=CSV)
    other = service.client.post(
        "/v1/labels",
        content="Case,right\nr04,no\n",
        headers=CSV,
        params={**query, "names": "record_id=Case, correct=right"},
    ).json()
    wrong = service.client.post("/v1/labels", json={})

    assert sent["unfilled"] == 1
    assert sent["read"] == sent["imported"] + sent["refused"] == 2
    assert {one["line"] for one in sent["findings"]} >= {3}
    assert unread.status_code == 400
    assert "pass `annotator` for all rows" in unread.json()["error"]["message"]
    assert wrong.status_code == 400
    assert other["imported"] == 1


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("record_id,correct\nr01,ja, schön\n".encode("latin-1"), "line 1: not UTF-8"),
        ("record_id,correct\nr01,yes\n".encode("utf-16"), "line 1: not UTF-8"),
        (b"record_id,record_id\nr01,yes\n", "two columns are called 'record_id'"),
        (b'record_id,correct\nr01,"yes\n', "line 2: unexpected end of data"),
        (b"\n", "the first line must name the columns"),
    ],
)
def test_bytes_that_are_no_table_are_a_wrong_request(
    service: ReviewService, sent: bytes, said: str
) -> None:
    query = {"run": service.run_id, "rubric": "rubric/desk-v1", "annotator": "cy"}
    refused = service.client.post(
        "/v1/labels", content=sent, headers=CSV, params={**query, "exposure": "suggested"}
    )

    assert refused.status_code == 400, refused.text
    error = refused.json()["error"]
    assert error["code"] == "invalid_request"
    assert said in error["message"]
    assert ("save the file as UTF-8" in error["message"]) is ("UTF-8" in said)


def test_a_queue_without_labels_or_judge_validates_nothing(service: ReviewService) -> None:
    queue = service.queue()

    assert service.client.get(f"/v1/queues/{queue}/labels").json()["data"] == []
    refused = service.client.post(f"/v1/queues/{queue}/validate")
    assert refused.status_code == 400, refused.text
    assert service.client.post("/v1/queues/unknown/validate").status_code == 404


def test_a_validation_counts_the_labels_of_its_queue_alone(service: ReviewService) -> None:
    answered(service, "other one", "other two", size=5)
    queue = answered(service, "judge's judge", size=30)
    done = service.client.post(f"/v1/queues/{queue}/validate")
    assert done.status_code == 200, done.text
    found = done.json()

    assert found["queue_id"] == queue
    assert (found["labels"], found["annotators"], found["split"]) == (30, 1, "test")
    left = found["left_out"]
    sizes = found["splits"]
    assert sum(sizes.values()) + left["not_blind"] + left["no_pass"] == 30
    assert left["other_splits"] == sizes["train"] + sizes["dev"] > 0
    assert found["sample_size"] + left["without_judgement"] == sizes["test"] > 0
    assert found["tpr"]["n"] + found["tnr"]["n"] == found["sample_size"]
    assert left["other_runs"] == left["picked"] == 0
    with httpx.Client(base_url=service.client.base_url) as browser:
        page = browser.get(f"/agreement/{queue}").text
        token = page.split('name="form_token" value="')[1].split('"')[0]
        form = {"form_token": token, "action": "validate"}
        origin = {"origin": str(browser.base_url).rstrip("/")}
        shown = browser.post(f"/agreement/{queue}", data=form, headers=origin).text
    assert "validated with 30 labels" in shown
    assert f"Split test: {found['sample_size']} responses" in shown
    assert f"left out: {left['other_splits']} in other splits" in shown


def test_a_queue_of_which_too_much_was_skipped_validates_nothing(service: ReviewService) -> None:
    queue = service.queue(fill={"size": 3})
    item = service.person("ann").claim(queue).json()
    done = service.client.post(
        f"/v1/annotations/{item['item_id']}/skip",
        json={"token": item["token"], "revision": item["revision"], "reason": "hard"},
    )
    refused = service.client.post(f"/v1/queues/{queue}/validate")

    assert done.status_code in {200, 204}, done.text
    assert refused.status_code == 400
    assert "of 3 items 0 are answered, 1 skipped: more than 2 %" in refused.text


def test_the_client_leads_a_review(service: ReviewService) -> None:
    queue = answered(service, "ann", "bob", size=4)
    with Client(str(service.client.base_url)) as client:
        rows = [*client.review.labels(queue)]
        table = client.review.export_labels(queue, format="csv")
        again = client.review.import_labels(table, name="labels.csv")
        listed = next(iter(client.review.queues()))

        assert len(rows) == again["same"] == 8
        assert listed["queue_id"] == queue
        assert client.review.agreement(queue)["labels"] == 8
    head = next(csv.reader(table.decode().splitlines()))
    assert {"correct", "turn_2.turn_ok", "annotator"} <= {*head}


def test_labels_as_json_lines_need_all_their_fields(service: ReviewService) -> None:
    rows = [
        label(5, "di", run_id=service.run_id, answers=answers(5), exposure="after_commit"),
        label(99, "di", run_id=service.run_id, answers=answers(5)),
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    sent = service.client.post("/v1/labels", content=text, headers=NDJSON).json()

    assert (sent["imported"], sent["refused"]) == (1, 1)
    assert sent["findings"][0]["line"] == 2
