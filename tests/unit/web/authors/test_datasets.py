"""The editor of datasets, as a plain form: nothing is saved before what is wrong was shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape

import httpx
import pytest

from fakes.projects import Project as Folder
from fakes.projects import row
from servers.service import running
from steelyard.project import Project, open_project

HEAD = {"dataset_id": "desk", "dataset_version": "1", "schema_version": "1.0"}
GOOD = {"record_id": "a", "input": {"prompt": "Is it open?"}}
BAD = {"record_id": "b", "inptu": {"prompt": "Is it?"}}


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = Folder(tmp_path_factory.mktemp("project"))
    folder.cases([row("a")], "datasets/cases.jsonl")
    folder.write("datasets/cases.yaml", "description: of all cases\n")
    with open_project(folder.root) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


def document(*records: object, **more: object) -> str:
    return json.dumps({**HEAD, "records": list(records), **more}, indent=1)


def post(client: httpx.Client, text: str, **fields: str) -> httpx.Response:
    return client.post("/datasets", data={"text": text, "action": "create", **fields})


def seen_in(page: str) -> str:
    found = re.search(r'name="seen" value="([^"]*)"', page)
    assert found
    return unescape(found[1])


def saved(client: httpx.Client) -> list[str]:
    return [one["ref"] for one in client.get("/v1/datasets").json()["data"]]


def test_a_dataset_without_fault_is_saved_at_once(client: httpx.Client) -> None:
    answer = post(client, document(GOOD))

    assert answer.status_code == 303
    assert saved(client) == ["desk@1"]


def test_rejected_records_are_shown_with_lines_before_the_rest_is_saved(
    client: httpx.Client,
) -> None:
    text = document(GOOD, BAD)
    line = next(n for n, one in enumerate(text.split("\n"), 1) if '"inptu"' in one)
    first = post(client, text)
    before = saved(client)
    second = post(client, text, seen=seen_in(first.text))
    page = client.get(second.headers["location"]).text

    assert "Nothing is saved yet: 1 of 2 records are rejected" in first.text
    assert f'data-line="{line}"' in first.text
    assert ">Save 1 of 2 records</button>" in first.text
    assert before == []
    assert saved(client) == ["desk@1"]
    assert f"line {line}<" in page


def test_a_draft_is_replaced_once_that_was_seen(client: httpx.Client) -> None:
    post(client, document(GOOD))
    other = document(GOOD, {**GOOD, "record_id": "c"})
    shown = client.get("/datasets/desk%401").text
    editor = client.get("/datasets?draft=desk%401").text
    first = post(client, other)
    count = client.get("/v1/datasets/desk@1").json()["content"]["records"]
    second = post(client, other, seen=seen_in(first.text))

    assert 'href="/datasets?draft=desk%401#new">Edit</a>' in shown
    assert '"record_id": "a"' in unescape(editor)
    assert "it would take the place of the draft dataset/desk@1" in first.text
    assert ">Replace the draft</button>" in first.text
    assert count == 1
    assert second.status_code == 303
    assert client.get("/v1/datasets/desk@1").json()["content"]["records"] == 2


def test_a_published_version_keeps_its_content(client: httpx.Client) -> None:
    post(client, document(GOOD))
    client.post("/datasets/desk%401", data={"do": "publish"})
    page = post(client, document(GOOD, {**GOOD, "record_id": "c"})).text

    assert "dataset/desk@1 is published with other content" in page


def test_a_check_saves_nothing_and_names_the_contract(client: httpx.Client) -> None:
    page = post(client, document(GOOD), action="check").text

    assert "dataset_document" in page
    assert "1 of 1 records can be evaluated. It is saved as dataset/desk@1." in page
    assert saved(client) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"```json\n{document(GOOD)}\n```", "The dataset stands in a code fence."),
        (f"{document(GOOD)[:-1]},}}", "This is almost JSON"),
        (json.dumps(document(GOOD)), "The JSON stands in a quoted string."),
    ],
)
def test_what_is_almost_a_dataset_is_mended(client: httpx.Client, text: str, why: str) -> None:
    offered = post(client, text, action="check").text
    mended = post(client, text, action="mend").text

    assert why in offered
    assert "1 of 1 records can be evaluated" in mended


@pytest.mark.parametrize("name", ["", "up.csv", "up.yaml"])
def test_a_table_has_one_finding_that_says_so(client: httpx.Client, name: str) -> None:
    page = post(client, "id,question\n1,Why?\n", action="check", name=name).text

    assert "1 error<" in page
    assert "this is a table (CSV)" in page
    assert "`steelyard convert` makes a dataset of a table" in page
    assert "Line 1: " not in page


def test_strict_validation_saves_nothing_and_keeps_what_was_typed(client: httpx.Client) -> None:
    text = document(GOOD, BAD)
    page = post(client, text, strict="1", version="1", name="desk.json").text

    assert "strict validation is on" in page
    assert 'value="desk.json"' in page
    assert unescape(page).count('"inptu"') == 1
    assert saved(client) == []


def test_a_sidecar_is_not_listed_as_a_dataset(client: httpx.Client) -> None:
    page = client.get("/datasets").text

    assert "datasets/cases.jsonl" in page
    assert "datasets/cases.yaml" not in page
