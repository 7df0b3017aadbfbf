"""What annotators have seen is known to the server, whatever a client says."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from fakes.review_project import answers, label
from servers.accounts import PASSWORD, Session, add_users, key_of, logged_in
from servers.review_service import Reviewer, make_review_run
from servers.service import served
from steelyard.project import Project, open_project
from steelyard.usecases.access.keys import KeyRequest, create_key
from steelyard.usecases.access.users import add_user

PUBLIC = "https://evals.example.org"


class WithLogin(NamedTuple):
    """A server with login."""

    project: Project
    client: httpx.Client
    run_id: str
    editor: Session

    def queue(self, size: int = 39, **more: Any) -> str:
        """A new queue of an editor."""
        body = {"name": "Desk", "run_id": self.run_id, "fill": {"size": size}, **more}
        answer = self.client.post("/v1/queues", json=body, headers=self.editor.headers)
        assert answer.status_code == 201, answer.text
        return answer.json()["queue_id"]

    def person(self, role: str) -> Reviewer:
        """A user who is logged in."""
        return Reviewer(self.client, headers=logged_in(self.client, role, PUBLIC).headers)

    def open(self, person: Reviewer, path: str) -> None:
        """Open a page or a file."""
        answer = httpx.get(f"{self.client.base_url}".rstrip("/") + path, headers=person.headers)
        assert answer.status_code == 200, answer.text


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Generator[WithLogin]:
    root: Path = tmp_path_factory.mktemp("login")
    run_id = make_review_run(root)
    settings = {"has_login": True, "public_url": PUBLIC, "requests_per_minute": 10**6}
    with open_project(root) as project:
        add_users(project)
        add_user(project.access_ports(), "second", "editor", PASSWORD)
        with served(project, **settings) as client:
            editor = logged_in(client, "editor", PUBLIC)
            yield WithLogin(project, client, run_id, editor)


def exposure(person: Reviewer, item: dict[str, Any], number: int = 1) -> str:
    """How the server says that answers were given."""
    answer = person.submit(item, answers(number))
    assert answer.status_code == 200, answer.text
    return answer.json()["exposure"]


def item_of(person: Reviewer, queue: str, index: int) -> dict[str, Any]:
    """The item of a record."""
    listed: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = person.get(f"/v1/queues/{queue}/items", limit=100, **cursor)
        listed += page["data"]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    (found,) = [one for one in listed if one["record_id"] == f"r{index:02}"]
    return person.claimed(queue, item_id=found["item_id"])


def test_whoever_opened_the_results_of_a_record_is_not_blind_about_it(service: WithLogin) -> None:
    queue = service.queue(reviews_required=3)
    editor, second = service.person("editor"), service.person("second")
    editor.get(f"/v1/runs/{service.run_id}/records/3")
    editor.get(f"/v1/runs/{service.run_id}/records/3")
    editor.get(f"/v1/runs/{service.run_id}/records", record_id="r04")
    service.open(editor, f"/runs/{service.run_id}/records/5")

    assert exposure(editor, item_of(editor, queue, 3)) == "suggested"
    assert exposure(editor, item_of(editor, queue, 4)) == "suggested"
    assert exposure(editor, item_of(editor, queue, 5)) == "suggested"
    assert exposure(editor, item_of(editor, queue, 6)) == "blind"
    assert exposure(second, item_of(second, queue, 3)) == "blind"


@pytest.mark.parametrize(
    "path", ["/runs/{}", "/runs/{}/records.csv", "/v1/runs/{}/artifacts/predictions.jsonl"]
)
def test_pages_and_files_with_results_count_as_well(service: WithLogin, path: str) -> None:
    name = f"reader-{len(path)}"
    add_user(service.project.access_ports(), name, "editor", PASSWORD)
    queue = service.queue(reviews_required=3)
    person = service.person(name)
    assert exposure(person, item_of(person, queue, 30)) == "blind"
    service.open(person, path.format(service.run_id))

    assert exposure(person, item_of(person, queue, 0)) == "suggested"


@pytest.mark.parametrize("path", ["artifacts/predictions.jsonl", "records/0"])
def test_a_request_for_headers_alone_shows_nothing(service: WithLogin, path: str) -> None:
    name = f"head-{len(path)}"
    add_user(service.project.access_ports(), name, "editor", PASSWORD)
    queue, person = service.queue(reviews_required=3), service.person(name)
    answer = person.ask("HEAD", f"/v1/runs/{service.run_id}/{path}")

    assert (answer.status_code, answer.content) == (200, b"")
    assert exposure(person, item_of(person, queue, 0)) == "blind"


SOME, ALL = [3], [*range(40)]
"""Records whose results were seen."""


def seen_by(service: WithLogin, name: str, *paths: str) -> list[int]:
    """The records of which a new program has seen results after opening these."""
    made = create_key(service.project.access_ports(), KeyRequest(name, "editor", None))
    program = Reviewer(service.client, headers={"authorization": f"Bearer {made.secret}"})
    for path in paths:
        service.open(program, path.format(service.run_id))
    seen, who = service.project.queue_ports().seen, [f"key:{name}:{made.key.key_id}"]
    return [index for index in range(40) if seen.has_seen(who, [service.run_id], index)]


@pytest.mark.parametrize(
    "path",
    ["/compare?a={0}&b={0}&show=all", "/rubrics/jury@1.0.0?run={0}", "/v1/compare?a={0}&b={0}"],
)
def test_pages_that_list_verdicts_count_as_well(service: WithLogin, path: str) -> None:
    # A record that is not among those that differ has the same verdict in both runs.
    assert seen_by(service, f"lister-{len(path)}", path) == ALL


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/v1/runs/{0}/records?record_id=r03", SOME),
        ("/v1/runs/{0}/records?record_id=r03&passed=false", SOME),
        ("/v1/runs/{0}/records?record_id=r03&status=timeout", SOME),
        ("/v1/runs/{0}/records?record_id=r99&passed=false", []),
        ("/v1/runs/{0}/records?passed=false&limit=1", ALL),
        ("/v1/runs/{0}/records?check=nothing", ALL),
        ("/v1/runs/{0}/records?label=nothing", ALL),
        ("/v1/runs/{0}/records?q=no+such+reason", ALL),
        ("/v1/runs/{0}/records?sort=-passed&limit=1", ALL),
        ("/v1/runs/{0}/records?sort=-latency&limit=40", ALL),
        ("/v1/runs/{0}/records?sort=index&limit=1", [0]),
        ("/runs/{0}?passed=false", ALL),
        ("/runs/{0}?only=look", ALL),
        ("/runs/{0}/records/3", SOME),
        ("/runs/{0}/records/3?from=sort%3Dindex", SOME),
        ("/runs/{0}/records/3?from=passed%3Dfalse", ALL),
        # Only four records have the tag `first`.
        ("/v1/runs/{0}/slices", ALL),
        ("/v1/runs/{0}/artifacts/metrics_by_slice.json", ALL),
        ("/runs/{0}/slices", ALL),
        ("/runs/{0}/slices.csv", ALL),
        ("/v1/runs/{0}", []),
        ("/v1/runs/{0}/metrics", []),
        ("/v1/runs/{0}/artifacts/metrics_summary.json", []),
        ("/runs", []),
    ],
)
def test_a_list_by_results_tells_about_the_records_that_it_leaves_out(
    service: WithLogin, request: pytest.FixtureRequest, path: str, seen: list[int]
) -> None:
    name = "filter-" + "".join(filter(str.isalnum, request.node.callspec.id))[:80]

    assert seen_by(service, name, path) == seen


def test_the_agreement_of_a_queue_shows_all_of_its_items(service: WithLogin) -> None:
    queue = service.queue(reviews_required=3)
    add_user(service.project.access_ports(), "lead", "editor", PASSWORD)
    lead = service.person("lead")
    assert lead.get(f"/v1/agreement/{queue}")["labels"] == 0
    # Before the first label it shows nothing.
    assert exposure(lead, item_of(lead, queue, 20)) == "blind"
    assert lead.get(f"/v1/agreement/{queue}")["labels"] == 1

    assert exposure(lead, item_of(lead, queue, 21)) == "suggested"


def test_annotators_see_queues_and_nothing_else(service: WithLogin) -> None:
    queue = service.queue()
    annotator = service.person("annotator")
    item = annotator.claimed(queue)

    for path in (
        *("/v1/runs", f"/v1/runs/{service.run_id}", f"/v1/runs/{service.run_id}/records"),
        *(f"/v1/queues/{queue}/progress", f"/v1/queues/{queue}/disagreements"),
        *(f"/v1/agreement/{queue}", f"/v1/annotations/{item['item_id']}/disputed"),
        *("/v1/rubrics", "/v1/audit"),
    ):
        assert annotator.ask("GET", path).status_code == 403, path
    created = annotator.ask("POST", "/v1/queues", {"name": "Own", "run_id": service.run_id})
    assert created.status_code == 403
    gold = {"answers": answers(1)}
    decided = annotator.ask("POST", f"/v1/annotations/{item['item_id']}/adjudicate", gold)
    assert decided.status_code == 403
    assert annotator.ask("POST", "/v1/judgements", {"queue_id": queue}).status_code == 403
    viewer = service.person("viewer")
    assert viewer.claim(queue).status_code == 403
    assert viewer.ask("GET", "/v1/queues").status_code == 403


def test_nobody_writes_with_the_token_or_in_the_name_of_somebody_else(service: WithLogin) -> None:
    queue = service.queue(size=2)
    annotator, editor = service.person("annotator"), service.person("editor")
    item = annotator.claimed(queue)

    assert editor.submit(item, answers(1)).status_code == 409
    assert editor.claim(queue, annotator="annotator").status_code == 400
    assert editor.do(item, "undo").status_code == 404
    assert annotator.submit(item, answers(1)).status_code == 200
    program = Reviewer(service.client, headers=key_of(service.project, "annotator"))
    other = program.claimed(queue)
    assert other["annotator"].startswith("key:ci")
    assert program.submit(other, answers(1)).status_code == 200


def test_a_client_cannot_say_that_it_is_blind(service: WithLogin) -> None:
    annotator = service.person("annotator")
    item = annotator.claimed(service.queue())
    body = {"token": item["token"], "revision": 0, "answers": answers(1), "exposure": "blind"}
    path = f"/v1/annotations/{item['item_id']}/submit"

    assert annotator.ask("POST", path, body).status_code == 400


def test_without_login_nobody_is_blind_after_results_were_opened(tmp_path: Path) -> None:
    run_id = make_review_run(tmp_path)
    with open_project(tmp_path) as project, served(project) as client:
        body = {"name": "Desk", "run_id": run_id, "fill": {"size": 39}}
        queue = client.post("/v1/queues", json=body).json()["queue_id"]
        ann, bob = Reviewer(client, "ann"), Reviewer(client, "bob")
        assert exposure(ann, item_of(ann, queue, 1)) == "blind"
        client.get(f"/v1/runs/{run_id}/records/2")

        assert exposure(bob, item_of(bob, queue, 2)) == "suggested"
        assert exposure(bob, item_of(bob, queue, 3)) == "blind"
        notes = client.get(f"/v1/agreement/{queue}").json()["notes"]
        assert [note.partition(":")[0] for note in notes] == ["1 label was not given blind"]


def test_without_login_answers_of_one_name_are_seen_by_all_others(tmp_path: Path) -> None:
    run_id = make_review_run(tmp_path)
    with open_project(tmp_path) as project, served(project) as client:
        body = {"name": "Desk", "run_id": run_id, "fill": {"size": 39}, "reviews_required": 3}
        queue = client.post("/v1/queues", json=body).json()["queue_id"]
        ann, bob = Reviewer(client, "ann"), Reviewer(client, "bob")
        revealed, listed = item_of(bob, queue, 1), item_of(bob, queue, 2)
        assert exposure(bob, revealed) == "blind"
        assert exposure(bob, listed) == "blind"
        bob.get(f"/v1/queues/{queue}/answers")
        other = item_of(bob, queue, 3)
        bob.write(other, answers=answers(3))
        # A draft is shown to whoever claims the item under that name once more.
        other = item_of(bob, queue, 3)
        bob.get(f"/v1/annotations/{revealed['item_id']}/revealed")

        assert exposure(ann, item_of(ann, queue, 1)) == "suggested"
        assert exposure(ann, item_of(ann, queue, 2)) == "suggested"
        assert exposure(ann, item_of(ann, queue, 3)) == "suggested"
        assert exposure(ann, item_of(ann, queue, 4)) == "blind"
        # His own answers tell him nothing.
        assert exposure(bob, other) == "blind"
        again = bob.do(listed, "undo", annotator="bob").json()
        assert exposure(bob, again, 3) == "blind"


def test_a_user_cannot_send_labels_as_blind_after_opening_the_results(
    service: WithLogin,
) -> None:
    add_user(service.project.access_ports(), "sender", "editor", PASSWORD)
    sender, queue = service.person("sender"), service.queue(reviews_required=3)
    assert exposure(sender, item_of(sender, queue, 20)) == "blind"
    sender.get(f"/v1/runs/{service.run_id}/records/21")
    stored = sender.get(f"/v1/queues/{queue}/labels")["data"]
    seen = label(21, "sender", run_id=service.run_id, answers=answers(21))
    rows = [seen, {**seen, "exposure": "suggested"}, {**seen, "annotator": "somebody else"}]
    rows.append({name: one for name, one in stored[0].items() if one is not None})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    headers = {**(sender.headers or {}), "content-type": "application/x-ndjson"}
    sent = service.client.post("/v1/labels", content=text, headers=headers).json()

    assert (sent["imported"], sent["same"], sent["refused"]) == (2, 1, 1)
    assert sent["findings"][0]["path"] == "exposure"
    assert "sender had opened the results of 'r21' here" in sent["findings"][0]["message"]


def send(service: WithLogin, sender: Reviewer, *rows: dict[str, Any]) -> dict[str, Any]:
    """What becomes of labels that are sent as a file."""
    text = "".join(json.dumps(row) + "\n" for row in rows)
    headers = {**(sender.headers or {}), "content-type": "application/x-ndjson"}
    return service.client.post("/v1/labels", content=text, headers=headers).json()


def test_a_label_without_a_run_is_about_every_run_with_its_record(service: WithLogin) -> None:
    add_user(service.project.access_ports(), "runless", "editor", PASSWORD)
    sender = service.person("runless")
    sender.get(f"/v1/runs/{service.run_id}/records/22")
    about_record = {"answers": {"trace": answers(22)["trace"]}}
    seen, unseen = label(22, "runless", **about_record), label(23, "runless", **about_record)
    sent = send(service, sender, seen, unseen, {**seen, "exposure": "suggested"})

    assert (sent["imported"], sent["refused"]) == (2, 1)
    assert "runless had opened the results of 'r22' here" in sent["findings"][0]["message"]


@pytest.mark.parametrize(
    "name", ["speller ", "Speller", " SPELLER", "\uff53peller", "spel\u200bler"]
)
def test_a_user_is_known_however_the_name_is_written(service: WithLogin, name: str) -> None:
    seen = service.project.queue_ports().seen
    seen.note("speller", [service.run_id], [24], "2026-01-01T00:00:00Z")
    row = label(24, name, run_id=service.run_id, answers=answers(24))
    sent = send(service, service.person("editor"), row)

    assert (sent["imported"], sent["refused"]) == (0, 1)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("   ", "'' is no name"),
        ("\u200b", "is no name"),
        ("\u3164", "is no name"),
        ("vi\u200bra", "is no name"),
        ("VIRA", "'VIRA' is another spelling of the annotator 'vira'"),
        ("v\uff49ra", "is another spelling of the annotator 'vira'"),
    ],
)
def test_a_name_that_cannot_be_told_from_another_or_from_none_is_refused(
    service: WithLogin, name: str, message: str
) -> None:
    editor, more = service.person("editor"), {"run_id": service.run_id, "answers": answers(25)}
    first = send(service, editor, label(25, " vira ", **more))
    sent = send(service, editor, label(26, name, **more))
    stored = [*service.project.review_ports().annotations.people()]

    assert first["refused"] == 0
    assert "vira" in stored
    assert " vira " not in stored
    assert sent["refused"] == 1
    assert sent["findings"][0]["path"] == "annotator"
    assert message in sent["findings"][0]["message"]


def test_a_label_names_a_queue_that_has_its_record(service: WithLogin) -> None:
    editor, index = service.person("editor"), 27
    fill = {"by": "picked", "records": [{"index": index}]}
    queue = service.queue(fill=fill)
    said = label(index, "hand", run_id=service.run_id, answers=answers(index), queue_id=queue)
    sent = send(
        service, editor, said, {**said, "queue_id": "queue_nowhere"}, {**said, "record_id": "r28"}
    )

    assert (sent["imported"], sent["refused"]) == (1, 2)
    assert [one["path"] for one in sent["findings"]] == ["queue_id", "queue_id"]
    assert [one["message"] for one in sent["findings"]] == [
        "there is no queue 'queue_nowhere'",
        f"{queue} has no item 'r28' of {service.run_id}",
    ]
