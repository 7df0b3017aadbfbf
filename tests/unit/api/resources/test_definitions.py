"""Rubrics and judges over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from fakes.definitions import JUDGE, QUESTIONS, RUBRIC, asks
from fakes.projects import Project as Folder
from fakes.projects import row
from servers.service import served
from steelyard.execution.run_options import RunOptions
from steelyard.model.reference import Reference
from steelyard.project import Project, open_project
from steelyard.usecases.results.audit_log import list_changes
from steelyard.usecases.runs.execute import FinishedRun, create_run, execute_run

if TYPE_CHECKING:
    import httpx

YAML = {"content-type": "application/yaml"}
FULL: dict[str, Any] = {
    "name": "Agent Response Quality v2",
    "version": "agent-quality-v2",
    "status": "published",
    "scale": "0-5",
    "guidance": ["5 = fully correct.", "0-2 = fails the task."],
    "questions": [
        {"key": "correctness", "label": "Correctness", "type": "score", "scope": "trace"},
        {"key": "is_relevant", "label": "Relevant?", "type": "yes_no", "scope": "trace"},
        {
            "key": "tags",
            "label": "Tags",
            "type": "multi_select",
            "scope": "turn",
            "options": [{"value": "bad_data", "label": "Bad data"}],
        },
        {"key": "comment", "label": "Comment", "type": "comment", "scope": "turn"},
    ],
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    folder = Folder(tmp_path)
    folder.write("rubrics/mine@1.0.0.yaml", RUBRIC.format(id="mine", version="1.0.0"))
    with open_project(tmp_path) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with served(project) as client:
        yield client


def rubric(name: str, *checks: str) -> str:
    """A check rubric `id@version`."""
    identifier, _, version = name.partition("@")
    text = RUBRIC.format(id=identifier, version=version)
    listed = "".join(f"  - {check}\n" for check in checks)
    return text.replace("  - {id: right, kind: equals}\n", listed) if checks else text


def create(client: httpx.Client, text: str, kind: str = "rubrics", **query: Any) -> httpx.Response:
    return client.post(f"/v1/{kind}", content=text, params=query, headers=YAML)


def test_a_whole_rubric_is_imported_in_one_call(client: httpx.Client) -> None:
    answer = client.post("/v1/rubrics", json=FULL)
    shown = client.get("/v1/rubrics/agent-quality-v2").json()

    assert answer.status_code == 201
    body = answer.json()
    assert body["findings"] == []
    assert (body["reference"], body["contract"]) == ("rubric/agent-quality-v2", "question_rubric")
    assert (body["status"], body["version"]) == ("published", None)
    assert shown["content"] == FULL
    assert (shown["status"], shown["origin"]) == ("published", "store")


def test_a_broken_import_says_where_it_is_broken(client: httpx.Client) -> None:
    broken = {**FULL, "questions": [{"key": "Not good", "label": "A", "type": "yes_no"}]}
    text = json.dumps(broken, indent=1)

    headers = {"content-type": "application/json"}
    answer = client.post("/v1/rubrics", content=text, headers=headers)

    assert answer.status_code == 400
    (finding,) = answer.json()["error"]["details"]["findings"]
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "Not good" in one)
    assert (finding["path"], finding["line"]) == ("questions[0].key", line)
    assert client.get("/v1/rubrics/agent-quality-v2").status_code == 404


def test_a_typo_is_a_warning_and_in_strict_mode_an_error(client: httpx.Client) -> None:
    typo: dict[str, Any] = {**FULL, "guidence": []}

    strict = client.post("/v1/rubrics", json=typo, params={"strict": True})
    soft = client.post("/v1/rubrics", json=typo)

    assert strict.status_code == 400
    (finding,) = strict.json()["error"]["details"]["findings"]
    assert (finding["code"], finding["severity"]) == ("unknown_field", "error")
    assert soft.status_code == 201
    (finding,) = soft.json()["findings"]
    assert (finding["severity"], finding["hint"]) == ("warning", "did you mean 'guidance'?")


def test_a_draft_may_change_until_it_is_published(client: httpx.Client) -> None:
    draft = rubric("kind@1.0")
    assert create(client, draft).status_code == 201
    assert create(client, draft).status_code == 200
    assert create(client, draft.replace("all_pass", "any_pass")).status_code == 200

    published = client.post(f"/v1/rubrics/{quote('kind@1.0.0')}/publish").json()
    again = client.post("/v1/rubrics/kind@1.0.0/publish").json()
    other = create(client, draft)
    same = create(client, draft.replace("all_pass", "any_pass"))

    assert (published["outcome"], again["outcome"]) == ("published", "unchanged")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "conflict")
    assert "is published with other content" in other.json()["error"]["message"]
    assert (same.status_code, same.json()["status"]) == (200, "published")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("rubrics", RUBRIC.format(id="mine", version="1.0.0"), "rubrics/mine@1.0.0.yaml"),
        (
            "rubrics",
            QUESTIONS.format(version="mine", status="draft"),
            "is the id of a check rubric",
        ),
        ("judges", JUDGE.format(id="accuracy", version="9.0.0"), "comes with Steelyard"),
    ],
)
def test_a_name_that_is_taken_is_a_conflict(
    client: httpx.Client, kind: str, text: str, message: str
) -> None:
    answer = create(client, text, kind)

    assert answer.status_code == 409
    assert message in answer.json()["error"]["message"]


def test_a_reference_that_leads_nowhere_is_told_and_in_strict_mode_refused(
    client: httpx.Client,
) -> None:
    text = rubric("kind@1.0.0", asks("judge/tone@1.0.0"))

    strict, soft = create(client, text, strict=True), create(client, text)

    assert strict.status_code == 400
    assert soft.status_code == 201
    assert [one["code"] for one in soft.json()["findings"]] == ["dangling_reference"]


@pytest.mark.parametrize("pin", ["@1.0.0", "@1.0", ""])
@pytest.mark.parametrize("strict", [True, False])
def test_a_rubric_that_refers_to_itself_is_a_cycle_before_it_is_saved(
    client: httpx.Client, pin: str, strict: bool
) -> None:
    text = rubric("round@1.0.0", f"{{id: inner, kind: composite, rubric_ref: rubric/round{pin}}}")

    validated = client.post("/v1/validate", content=text, headers=YAML).json()
    first = create(client, text, strict=strict)
    second = create(client, text, strict=strict)

    for answer in (first, second):
        body = answer.json()
        findings = body["error"]["details"]["findings"] if strict else body["findings"]
        assert "reference_cycle" in [one["code"] for one in findings]
        assert "dangling_reference" not in [one["code"] for one in findings]
    assert (first.status_code, second.status_code) == ((400, 400) if strict else (201, 200))
    assert "reference_cycle" in str(validated)


def test_a_cycle_over_another_rubric_is_seen_before_it_is_closed(client: httpx.Client) -> None:
    there = rubric("there@1.0.0", "{id: inner, kind: composite, rubric_ref: rubric/back@1.0.0}")
    back = rubric("back@1.0.0", "{id: inner, kind: composite, rubric_ref: rubric/there@1.0.0}")
    create(client, there)

    closed = create(client, back, strict=True)

    (finding,) = closed.json()["error"]["details"]["findings"]
    assert (closed.status_code, finding["code"]) == (400, "reference_cycle")


def test_lists_what_is_in_files_in_the_store_and_built_in(client: httpx.Client) -> None:
    create(client, rubric("kind@1.0.0"))
    create(client, JUDGE.format(id="tone", version="1.0.0"), "judges")

    rubrics = client.get("/v1/rubrics").json()["data"]
    judges = client.get("/v1/judges", params={"limit": 100}).json()["data"]

    assert [(one["ref"], one["origin"]) for one in rubrics] == [
        ("kind@1.0.0", "store"),
        ("mine@1.0.0", "file"),
    ]
    assert {one["origin"] for one in judges} == {"store", "built in"}


def test_pages_of_a_list_miss_nothing_and_repeat_nothing(client: httpx.Client) -> None:
    for version in ("1.0.0", "1.10.0", "1.9.0"):
        create(client, rubric(f"kind@{version}"))
    found, cursor = list[str](), None
    while True:
        query = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = client.get("/v1/rubrics", params=query).json()
        found += [one["ref"] for one in page["data"]]
        if not (cursor := page["next_cursor"]):
            break

    assert found == ["kind@1.0.0", "kind@1.9.0", "kind@1.10.0", "mine@1.0.0"]
    assert client.get("/v1/rubrics", params={"cursor": "x"}).status_code == 400


def test_two_versions_are_compared(client: httpx.Client) -> None:
    create(client, rubric("kind@1.0.0"))
    create(client, rubric("kind@2.0.0").replace("all_pass", "any_pass"))

    diff = client.get("/v1/rubrics/kind@1.0.0/diff", params={"to": "kind@2.0.0"}).json()

    assert diff["is_breaking"]
    assert [one["path"] for one in diff["differences"]] == ["version", "scoring.combine"]


def test_a_version_that_moves_scores_is_refused_under_a_minor_number(client: httpx.Client) -> None:
    create(client, rubric("kind@1.0.0"))
    client.post("/v1/rubrics/kind@1.0.0/publish")
    create(client, rubric("kind@1.1.0").replace("all_pass", "any_pass"))

    answer = client.post("/v1/rubrics/kind@1.1.0/publish")

    assert answer.status_code == 409
    details = answer.json()["error"]["details"]
    assert (details["bump"], details["diff"]["is_breaking"]) == ("minor", True)
    assert "can move scores" in details["refusals"][0]


@pytest.mark.parametrize("is_published", [True, False])
def test_an_archived_version_is_used_by_no_new_run(
    client: httpx.Client, project: Project, is_published: bool
) -> None:
    create(client, rubric("kind@1.0.0"))
    if is_published:
        client.post("/v1/rubrics/kind@1.0.0/publish")

    first = client.post("/v1/rubrics/kind@1.0.0/archive").json()
    again = client.post("/v1/rubrics/kind@1.0.0/archive").json()

    assert (first["outcome"], again["outcome"]) == ("archived", "unchanged")
    assert client.get("/v1/rubrics/kind@1.0.0").json()["status"] == "archived"
    problems = project.references().rubric("rubric/kind@1.0.0").problems
    assert [one.code for one in problems] == ["archived_rubric"]


SENT = {
    "questions": ("rubrics", "asks-v1", QUESTIONS.format(version="asks-v1", status="{status}")),
    "checks": ("rubrics", "kind@1.0.0", rubric("kind@1.0.0") + "status: {status}\n"),
    "judge": (
        "judges",
        "tone@1.0.0",
        JUDGE.format(id="tone", version="1.0.0") + "status: {status}\n",
    ),
}


def _with_status(text: str, status: str) -> str:
    return text.replace("{status}", status)


def _statuses(client: httpx.Client, kind: str, ref: str) -> set[str]:
    """What is said about a version wherever its status stands."""
    shown = client.get(f"/v1/{kind}/{ref}").json()
    listed = client.get(f"/v1/{kind}", params={"limit": 100}).json()["data"]
    of_list = next(one["status"] for one in listed if one["ref"] == ref)
    return {shown["status"], shown["content"]["status"], of_list}


@pytest.mark.parametrize("sent", SENT)
def test_a_status_that_is_sent_neither_archives_nor_brings_back_what_is_published(
    client: httpx.Client, project: Project, sent: str
) -> None:
    kind, ref, text = SENT[sent]
    published = create(client, _with_status(text, "published"), kind)

    archived = create(client, _with_status(text, "archived"), kind)
    draft = create(client, _with_status(text, "draft"), kind)
    between = _statuses(client, kind, ref)
    client.post(f"/v1/{kind}/{ref}/archive")
    back = create(client, _with_status(text, "published"), kind)
    again = create(client, _with_status(text, "archived"), kind)

    assert (published.status_code, published.json()["status"]) == (201, "published")
    assert archived.status_code == 409
    assert "archive it" in archived.json()["error"]["message"]
    assert (draft.status_code, draft.json()["status"]) == (200, "published")
    assert between == {"published"}
    assert (back.status_code, again.status_code) == (409, 200)
    assert "which is for good" in back.json()["error"]["message"]
    assert again.json()["status"] == "archived"
    assert _statuses(client, kind, ref) == {"archived"}
    verbs = [one.verb for one in list_changes(project.audit_log).entries]
    assert verbs == ["archive", "fix_published", f"create_{kind[:-1]}"]


@pytest.mark.parametrize("is_draft_first", [True, False])
@pytest.mark.parametrize("sent", SENT)
def test_a_version_that_is_sent_as_archived_is_archived_for_good(
    client: httpx.Client, sent: str, is_draft_first: bool
) -> None:
    kind, ref, text = SENT[sent]
    if is_draft_first:
        create(client, _with_status(text, "draft"), kind)

    made = create(client, _with_status(text, "archived"), kind)
    content = client.get(f"/v1/{kind}/{ref}").json()["content"]
    shown = client.post(f"/v1/{kind}", json=content)
    back = create(client, _with_status(text, "published"), kind)
    published = client.post(f"/v1/{kind}/{ref}/publish")

    assert made.status_code == (200 if is_draft_first else 201)
    assert (made.json()["status"], shown.json()["status"]) == ("archived", "archived")
    assert (back.status_code, published.status_code) == (409, 409)
    assert _statuses(client, kind, ref) == {"archived"}


def test_a_draft_that_was_archived_can_be_sent_back_as_it_is_shown(client: httpx.Client) -> None:
    create(client, rubric("kind@1.0.0"))
    client.post("/v1/rubrics/kind@1.0.0/archive")
    content = client.get("/v1/rubrics/kind@1.0.0").json()["content"]

    same = client.post("/v1/rubrics", json=content)
    other = client.post("/v1/rubrics", json={**content, "description": "Another one."})

    assert content["status"] == "archived"
    assert (same.status_code, same.json()["status"]) == (200, "archived")
    assert other.status_code == 409


def test_the_validation_of_a_published_judge_may_still_change(client: httpx.Client) -> None:
    kind, ref, text = SENT["judge"]
    create(client, _with_status(text, "published"), kind)

    changed = create(client, _with_status(text, "published") + "applicable_to: [rag]\n", kind)
    noted = client.post(f"/v1/judges/{ref}/publish").json()

    assert (changed.status_code, changed.json()["status"]) == (200, "published")
    assert noted["outcome"] == "noted"
    assert _statuses(client, kind, ref) == {"published"}


def test_a_file_of_the_project_is_not_archived(client: httpx.Client) -> None:
    assert client.post("/v1/rubrics/mine@1.0.0/archive").status_code == 409
    assert client.post("/v1/rubrics/none@1.0.0/archive").status_code == 404


@pytest.mark.parametrize(
    "ref", ["none@1.0.0", "steelyard.yaml", "a b", "..", "@", "%00", "%F0%9F%98%80", "x" * 5000]
)
def test_a_name_of_nothing_is_not_found(client: httpx.Client, ref: str) -> None:
    for path in (f"/v1/rubrics/{ref}", f"/v1/judges/{ref}/diff?to=a"):
        assert client.get(path).status_code == 404
    for verb in ("publish", "archive"):
        assert client.post(f"/v1/rubrics/{ref}/{verb}").status_code == 404


def test_a_rubric_of_the_server_grades_a_run_of_the_command_line(
    client: httpx.Client, project: Project
) -> None:
    create(client, rubric("kind@1.0.0", "{id: says, kind: must_contain_any, phrases: [yes]}"))
    folder = Folder(project.root)
    dataset = folder.cases([row("a", input="yes"), row("b", input="no")])

    run = folder.run(folder.ports(), dataset, target="echo", rubric="rubric/kind@1.0.0")

    assert run.metrics
    assert (run.metrics.pass_count, run.metrics.fail_count) == (1, 1)


def test_a_queued_run_is_graded_by_what_was_saved_when_it_was_queued(
    client: httpx.Client, project: Project
) -> None:
    says = "{{id: says, kind: must_contain_any, phrases: [{}]}}"
    create(client, rubric("kind@1.0.0", says.format("yes")))
    dataset = Folder(project.root).cases([row("a", input="yes")])
    options = RunOptions(dataset=dataset, target="echo", rubric="rubric/kind@1.0.0")

    async def executed() -> FinishedRun:
        run = await create_run(project.run_ports(), options)
        assert create(client, rubric("kind@1.0.0", says.format("no"))).status_code == 200
        return await execute_run(project.run_ports(), run.run_id, lambda _: None)

    run = asyncio.run(executed())

    assert run.metrics
    assert run.metrics.pass_count == 1


def test_every_change_is_logged(client: httpx.Client, project: Project) -> None:
    create(client, rubric("kind@1.0.0"))
    client.post("/v1/rubrics/kind@1.0.0/publish", headers={"x-request-id": "mine"})
    client.post("/v1/rubrics/kind@1.0.0/archive")

    entries = list_changes(project.audit_log).entries

    assert [(one.verb, one.subject) for one in entries] == [
        ("archive", "rubric/kind@1.0.0"),
        ("publish", "rubric/kind@1.0.0"),
        ("create_rubric", "rubric/kind@1.0.0"),
    ]
    assert entries[1].caller.request_id == "mine"


def test_a_draft_does_not_take_over_references_without_a_version(
    project: Project, client: httpx.Client
) -> None:
    """The project has mine@1.0.0 as a file."""
    sent = RUBRIC.format(id="mine", version="2.0.0")
    assert client.post("/v1/rubrics", content=sent, headers=YAML).status_code == 201

    found = project.references().find(Reference(kind="rubric", id="mine", version=None))

    assert found.definition
    assert found.definition.shown == "rubrics/mine@1.0.0.yaml"


def test_a_draft_is_used_where_nothing_else_is_there(
    project: Project, client: httpx.Client
) -> None:
    sent = RUBRIC.format(id="new", version="1.0.0")
    assert client.post("/v1/rubrics", content=sent, headers=YAML).status_code == 201

    found = project.references().find(Reference(kind="rubric", id="new", version=None))

    assert found.definition
    assert found.definition.shown == "store:rubrics/new@1.0.0.yaml"
