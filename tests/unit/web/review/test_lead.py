"""The page of whoever leads a queue: labels to take along, items to ask again."""

from __future__ import annotations

import json
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fakes.review_project import QUESTIONS, answers
from servers.review_service import Reviewer, make_review_run
from servers.site import Site, site_of
from steelyard.library import evaluate
from steelyard.project import Project, open_project


class Lead(NamedTuple):
    """A server without login, and its run."""

    project: Project
    site: Site
    run_id: str

    def answered(self, rubric: str) -> str:
        """A queue of two items that somebody has answered."""
        body = {"name": "Desk", "run_id": self.run_id, "rubric": rubric, "fill": {"size": 2}}
        queue = self.site.client.post("/v1/queues", json=body).json()["queue_id"]
        person = Reviewer(self.site.client, "ann")
        while (claimed := person.claim(queue)).status_code == 200:
            assert person.submit(claimed.json(), answers(1)).status_code == 200
        return queue

    def version(self, name: str, label: str, status: str = "published") -> None:
        """Write a version of the questions."""
        first: dict[str, Any] = {**QUESTIONS["questions"][0], "label": label}
        questions = [first, *QUESTIONS["questions"][1:]]
        row = {**QUESTIONS, "version": name, "status": status, "questions": questions}
        path = self.project.root / "rubrics" / f"{name}.json"
        path.write_text(json.dumps(row), encoding="utf-8")


@pytest.fixture(scope="module")
def lead(tmp_path_factory: pytest.TempPathFactory) -> Generator[Lead]:
    root = tmp_path_factory.mktemp("lead")
    run_id = make_review_run(root)
    with open_project(root) as project, site_of(project) as site:
        yield Lead(project, site, run_id)


def test_labels_are_taken_along_once_there_are_some(lead: Lead) -> None:
    queue = lead.answered("desk-v1")
    body = {"name": "New", "run_id": lead.run_id, "fill": {"size": 2}}
    empty = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    page = lead.site.open(f"/review/{queue}/progress").text

    for form in ("jsonl", "csv"):
        href = f"/v1/queues/{queue}/labels/export?format={form}"
        assert f'href="{href}" download' in page
        assert lead.site.open(href).status_code == 200
    assert "labels/export" not in lead.site.open(f"/review/{empty}/progress").text


def test_auto_judgment_is_reached_from_the_progress_of_a_queue(lead: Lead) -> None:
    body = {"name": "New", "run_id": lead.run_id, "fill": {"size": 2}}
    queue = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    page = lead.site.open(f"/review/{queue}/progress").text

    assert f'href="/agreement/{queue}#auto">Auto Judgment…' in page
    assert 'id="auto"' in lead.site.open(f"/agreement/{queue}").text


def test_items_under_an_older_wording_become_a_queue(lead: Lead) -> None:
    lead.version("draft-v1", "Is it right?", "draft")
    queue = lead.answered("draft-v1")
    address = f"/review/{queue}/progress"
    assert "older wording" not in lead.site.text(address)
    lead.version("draft-v1", "Is it true?", "draft")
    said = lead.site.text(address)
    made = lead.site.send(address, action="again", rubric="")

    assert "2 items were answered under an older wording of the rubric" in said
    assert "Make a queue of these 2 items" in said
    assert made.status_code == 303
    assert "Desk (again)" in lead.site.text(made.headers["location"])
    assert "older wording of the rubric" not in lead.site.text(address)
    again = lead.site.send(address, action="again", rubric="")
    assert again.status_code == 400
    assert "waits to be answered again" in again.text


def test_a_newer_version_asks_the_same_items(lead: Lead) -> None:
    lead.version("tone-v1", "Is it right?")
    queue = lead.answered("tone-v1")
    address = f"/review/{queue}/progress"
    lead.version("tone-v3", "Is it so?")
    said = lead.site.text(address)
    made = lead.site.send(address, action="again", rubric="rubric/tone-v3")

    assert "2 items were answered with tone-v1, of which tone-v3 is the newer version" in said
    assert "tone-v3" in lead.site.text(made.headers["location"])


def test_tied_items_are_named_and_one_more_person_is_asked(lead: Lead) -> None:
    body = {"name": "Tied", "run_id": lead.run_id, "fill": {"size": 1}, "reviews_required": 2}
    queue = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    for name, said in (
        ("ann", answers(3)),
        ("bob", answers(1, correct=0, quality=0, tone="cold")),
    ):
        person = Reviewer(lead.site.client, name)
        item = person.claimed(queue)
        person.submit(item, said).raise_for_status()
    address = f"/review/{queue}/progress"
    told = lead.site.text(address)
    cid = Reviewer(lead.site.client, "cid")
    before = cid.claim(queue).status_code
    sent = lead.site.send(address, action="ties")

    assert f"As many people pass 1 item as fail it: {item['record_id']}." in told
    assert "Ask one more person about this item" in told
    assert "Ask one more person about this item" in lead.site.text(f"/agreement/{queue}")
    assert (before, sent.status_code, cid.claim(queue).status_code) == (204, 303, 200)


def test_a_new_queue_takes_what_the_run_has_and_says_so_where_more_is_typed(lead: Lead) -> None:
    typed = {"name": "Small", "run": lead.run_id, "by": "random", "reviews": "2", "size": ""}
    made = lead.site.send("/review/new", **typed)
    refused = lead.site.send("/review/new", **{**typed, "size": "50"})

    assert made.status_code == 303
    assert "of 39 items finished" in lead.site.text(made.headers["location"])
    assert refused.status_code == 400
    field = refused.text.partition('<input class="input" id="size"')[2].partition("</div>")[0]
    assert 'aria-invalid="true"' in field
    assert "50 records are asked for, and 39 can be chosen" in field


def test_both_matrices_of_a_question_have_the_same_answers(lead: Lead) -> None:
    fill = {"by": "picked", "records": [{"index": 5}, {"index": 6}]}
    body = {"name": "Same", "run_id": lead.run_id, "fill": fill, "reviews_required": 2}
    queue = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    for name, quality in (("ann", 0), ("bob", 5)):
        person = Reviewer(lead.site.client, name)
        while (claimed := person.claim(queue)).status_code == 200:
            said = person.submit(claimed.json(), answers(1, quality=quality))
            assert said.json()["exposure"] == "blind"
    page = lead.site.open(f"/agreement/{queue}").text
    question = page.partition('id="q-quality"')[2].partition("</section>")[0]
    people, judge = re.findall(r'<table class="t matrix".*?</thead>', question, re.DOTALL)
    heads = [re.findall(r'class="num">(\d)</th>', one) for one in (people, judge)]

    assert heads[0] == heads[1]
    assert {"0", "5"} < {*heads[0]}


def test_the_cells_of_people_with_each_other_add_up_to_their_pairs(lead: Lead) -> None:
    body = {"name": "Sums", "run_id": lead.run_id, "fill": {"size": 6}, "reviews_required": 3}
    queue = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    for number, name in enumerate(("ann", "bob", "cid")):
        person = Reviewer(lead.site.client, name)
        while (claimed := person.claim(queue)).status_code == 200:
            quality = (claimed.json()["place"] * (number + 1)) % 4
            person.submit(claimed.json(), answers(1, quality=quality)).raise_for_status()
    page = lead.site.open(f"/agreement/{queue}").text
    question = page.partition('id="q-quality"')[2].partition("</section>")[0]
    matrix = question.partition('<table class="t matrix"')[2].partition("</table>")[0]
    cells = [int(one) for one in re.findall(r"<a href[^>]*>(\d+)</a>", matrix)]
    found = lead.site.client.get(f"/v1/agreement/{queue}").json()["questions"][1]["people"]

    assert found["items"] == 6
    assert sum(cells) == sum(one["n"] for one in found["cells"]) == 18
    assert sorted(cells) == sorted(one["n"] for one in found["cells"])
    assert "in either order: 18 pairs of answers in all" in question


def test_an_item_that_nobody_so_far_can_answer_needs_somebody_else(lead: Lead) -> None:
    body = {"name": "Left", "run_id": lead.run_id, "fill": {"size": 3, "seed": 2}}
    queue = lead.site.client.post("/v1/queues", json=body).json()["queue_id"]
    address = f"/review/{queue}/progress"
    fresh = lead.site.text(address)
    ann = Reviewer(lead.site.client, "ann")
    skipped = ann.claimed(queue)
    ann.do(skipped, "skip", token=skipped["token"], reason="no idea").raise_for_status()
    done = ann.claimed(queue)
    ann.submit(done, answers(1)).raise_for_status()
    last = ann.claimed(queue)
    told = lead.site.text(address)
    waiting = lead.site.client.get(f"/v1/queues/{queue}/progress").json()["waiting"]

    assert "needs somebody else" not in fresh
    assert "1 item needs somebody else" in told
    assert f"{skipped['record_id']} (skipped by ann)" in told
    assert f"1 item waits for answers: {last['record_id']}" in told
    assert [(one["item_id"], one["needs_somebody_else"]) for one in waiting] == [
        (skipped["item_id"], True),
        (last["item_id"], False),
    ]
    bob = Reviewer(lead.site.client, "bob")
    assert bob.claimed(queue)["item_id"] == skipped["item_id"]
    assert "needs somebody else" not in lead.site.text(address)


def _options(page: str) -> list[str]:
    field = page.partition('<select id="rubric"')[2].partition("</select>")[0]
    return re.findall(r'<option value="([^"]*)"', field)


def test_a_published_rubric_is_offered_once(lead: Lead) -> None:
    lead.answered("desk-v1")
    published = lead.site.client.get("/v1/rubrics/desk-v1").json()["status"]
    offered = _options(lead.site.open(f"/runs/{lead.run_id}/review?record=1.0").text)

    assert published == "published"
    assert offered.count("rubric/desk-v1") == 1
    assert _options(lead.site.open("/review/new").text).count("rubric/desk-v1") == 1


@pytest.mark.parametrize("address", ["/runs/{}/review?record=1.0", "/review/new?run={}"])
def test_a_run_that_checks_graded_is_answered_under_a_rubric_of_questions(
    lead: Lead, address: str
) -> None:
    checked = evaluate(
        lead.project.root / "desk.json",
        target="desk",
        rubric="rubric/jury@1.0.0",
        project=lead.project,
    )
    page = lead.site.open(address.format(checked.run_id)).text
    judged = lead.site.open(address.format(lead.run_id)).text

    assert '<option value="rubric/desk-v1" selected>desk-v1</option>' in page
    assert "selected>desk-v1, which graded the run</option>" in judged
    typed = {"name": "Why", "reviews": "1", "run": checked.run_id, "by": "random"}
    refused = lead.site.send(address.format(checked.run_id), **typed)
    assert refused.status_code == 400
    assert "rubric/jury@1.0.0 graded the run, and is no rubric of questions" in refused.text


def test_a_project_without_questions_leads_to_their_import(tmp_path: Path) -> None:
    run_id = make_review_run(tmp_path, "rubric/jury@1.0.0")
    (tmp_path / "rubrics" / "desk-v1.json").unlink()
    with open_project(tmp_path) as project, site_of(project) as site:
        for address in (f"/runs/{run_id}/review?record=1.0", f"/review/new?run={run_id}"):
            page = site.open(address).text

            assert 'no question rubric yet. <a href="/rubrics/import">Import one</a>' in page
            assert "<form" not in page.partition("<main")[2]
