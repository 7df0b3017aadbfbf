"""The pages of rubrics: list, versions, differences, publishing, and a trial on a stored run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fakes.definitions import JUDGE, QUESTIONS
from fakes.projects import SETTINGS, row
from fakes.projects import Project as Folder
from fakes.targets import ScriptedTarget, fails
from servers.accounts import add_users, logged_in
from servers.service import running
from steelyard.project import Project, open_project

POLITE = """\
id: polite
version: "{version}"
description: {about}
checks: [{{id: says, kind: must_contain_any, phrases: [{phrases}]}}]
scoring: {{combine: all_pass}}
"""
ONE = POLITE.format(version="1.0.0", phrases="a", about="x")
RUBRIC = """\
id: {id}
version: "{version}"
checks: [{check}]
scoring: {{combine: all_pass}}
"""
RECORDED = """\
targets: {replies: {provider: recorded, path: r.jsonl}}
judges: {default: {target: replies}}
"""
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two versions of a rubric, a run, and what a stranger wrote."""
    root = tmp_path_factory.mktemp("rubrics")
    folder = Folder(root)
    for version, phrases in (("1.0.0", "yes"), ("1.1.0", '"please", "I\'m <b>"')):
        text = POLITE.format(version=version, phrases=phrases, about="Whether it is polite")
        folder.write(f"rubrics/polite@{version}.yaml", text)
    hostile = POLITE.format(version="1.0.0", phrases="x", about=f"'{HOSTILE}'")
    folder.write("rubrics/odd.yaml", hostile.replace("id: polite", "id: odd"))
    folder.write("rubrics/broken.yaml", "id: broken\nversion: '1.0.0'\n")
    folder.write("rubrics/quality-v1.yaml", QUESTIONS.format(version="quality-v1", status="draft"))
    folder.write("judges/kind.yaml", JUDGE.format(id="kind", version="1.0.0"))
    cases = folder.cases([row("a"), row("b"), row("c")])
    target = ScriptedTarget({"a": ["yes"], "b": ["yes, please"], "c": ["no"]})
    folder.run(folder.ports(target), cases, rubric="rubric/polite@1.0.0")
    folder.close()
    return root


@pytest.fixture
def project(root: Path) -> Iterator[Project]:
    with open_project(root) as project:
        yield project


@pytest.fixture
def client(project: Project) -> Iterator[httpx.Client]:
    with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


def test_the_list_has_every_version_its_status_and_its_place(client: httpx.Client) -> None:
    page = client.get("/rubrics").text

    assert page.index("1.1.0") < page.index("rubrics/polite@1.0.0.yaml")
    assert '<a href="/rubrics/polite%401.1.0">polite</a>' in page
    assert "1 question<" in page
    assert "broken" in page
    assert 'href="/rubrics/import"' in page
    assert HOSTILE not in page


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("q=polite", ["polite", "polite"]),
        ("q=whether+1.1", ["polite"]),
        ("contract=question_rubric", ["quality-v1"]),
        ("status=broken", []),
        ("status=archived", []),
    ],
)
def test_the_list_is_narrowed_by_the_address(
    client: httpx.Client, query: str, names: list[str]
) -> None:
    page = client.get(f"/rubrics?{query}").text

    assert re.findall(r'<th scope="row"[^>]*><a href="/rubrics/[^"]+">([^<]+)</a>', page) == names


def test_a_rubric_that_is_not_there_is_a_page_that_says_so(client: httpx.Client) -> None:
    answer = client.get("/rubrics/none%401.0.0")

    assert answer.status_code == 404
    assert "<h1>Not found</h1>" in answer.text
    assert "`" not in answer.text
    assert '<a class="btn" href="/runs">All runs</a>' in answer.text


def test_a_check_rubric_shows_its_checks_its_runs_and_the_whole_file(client: httpx.Client) -> None:
    page = client.get("/rubrics/polite%401.0.0").text

    assert "What it checks" in page
    assert "must_contain_any" in page
    assert "passes if every check passes" in page
    assert '<a href="/runs/run_' in page
    assert "phrases:" in page.partition('id="raw"')[2]


def test_a_question_rubric_is_shown_as_a_form_and_as_a_table(client: httpx.Client) -> None:
    page = client.get("/rubrics/quality-v1").text

    assert "As the annotator sees it" in page
    assert 'data-type="yes_no"' in page
    assert 'data-csv="questions"' in page
    assert "Try it on a stored run" not in page


def test_two_versions_are_compared_field_by_field_and_line_by_line(client: httpx.Client) -> None:
    page = client.get("/rubrics/polite%401.1.0?to=polite%401.0.0").text

    assert "Scores under polite@1.1.0 may not be compared with scores under polite@1.0.0" in page
    assert "checks.says.phrases" in page
    assert re.search(r"<del>- +- (?:&#39;)?yes", page)
    assert re.search(r"<ins>\+ +- (?:&#39;)?please", page)


def test_settings_of_checks_read_as_they_are_written(client: httpx.Client) -> None:
    page = client.get("/rubrics/polite%401.1.0").text

    assert "[&#34;please&#34;, &#34;I&#39;m &lt;b&gt;&#34;]</code>" in page
    assert "u0027" not in page


@pytest.mark.parametrize("other", ["none%401.0.0", "quality-v1", "..%2F..%2Fx"])
def test_what_cannot_be_compared_is_said(client: httpx.Client, other: str) -> None:
    answer = client.get(f"/rubrics/polite%401.0.0?to={other}")

    assert answer.status_code == 200
    assert 'class="note bad"' in answer.text


def test_a_trial_counts_the_verdicts_that_would_change(client: httpx.Client) -> None:
    page = client.get("/rubrics/polite%401.1.0?run=latest").text

    assert "1 of 3 verdicts would change" in page
    assert "0 would pass that failed, 1 would fail that passed" in page
    records = page.partition('data-csv="trial-records"')[2]
    assert "/records/0" in records
    assert "/records/1" not in records


def test_a_first_verdict_counts_as_a_change(tmp_path: Path) -> None:
    folder = Folder(tmp_path, f"{SETTINGS}{RECORDED}")
    folder.write("rubrics/polite.yaml", ONE.replace("[a]", "[yes]"))
    asks = "{id: says, kind: llm_judge, judge_prompt_ref: judge/kind@1.0.0}"
    folder.write("rubrics/asks.yaml", RUBRIC.format(id="asks", version="1.0.0", check=asks))
    folder.write("judges/kind.yaml", JUDGE.format(id="kind", version="1.0.0"))
    folder.write("r.jsonl", '{"record_id": "z", "response_text": "said of another record"}\n')
    replies = open_project(tmp_path).run_ports().target("replies")
    ports = folder.ports(ScriptedTarget({"a": ["yes"], "b": ["no"]}), replies)
    cases = folder.cases([row("a"), row("b")])
    folder.run(ports, cases, rubric="rubric/asks@1.0.0")
    folder.close()
    page = _tried_on_latest(tmp_path)

    assert "2 of 2 verdicts would change" in page
    assert "2 would get a verdict that they did not have" in page
    assert "as before</td>" not in page


def test_a_trial_without_answers_is_no_all_clear(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.write("rubrics/polite.yaml", ONE)
    target = ScriptedTarget({"a": [fails("timeout")]})
    cases = folder.cases([row("a")])
    folder.run(folder.ports(target), cases, rubric="rubric/polite@1.0.0")
    folder.close()
    page = _tried_on_latest(tmp_path)

    assert "<b>Nothing was tried</b>" in page
    assert "Nothing would change" not in page
    assert "<td>not tried</td>" in page
    assert "as before" not in page


def _tried_on_latest(root: Path) -> str:
    with (
        open_project(root) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        page = client.get("/rubrics/polite%401.0.0?run=latest").text
    return page.partition("data-trial")[2].partition("h-compare")[0]


def test_a_trial_on_nothing_says_why(client: httpx.Client) -> None:
    page = client.get("/rubrics/polite%401.1.0?run=run_none").text

    assert "It cannot be tried on this run" in page


def test_what_a_stranger_wrote_stays_text(client: httpx.Client) -> None:
    page = client.get("/rubrics/odd%401.0.0?to=polite%401.0.0").text

    assert HOSTILE not in page
    assert "&lt;script&gt;" in page


def test_a_version_is_published_then_archived_by_forms(tmp_path: Path) -> None:
    Folder(tmp_path).write(
        "rubrics/p.yaml", POLITE.format(version="1.0.0", phrases="a", about="x")
    )
    with (
        open_project(tmp_path) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        path = "/rubrics/polite%401.0.0"
        early = client.post(path, data={"do": "archive"})
        published = client.post(path, data={"do": "publish"})
        shown = client.get(published.headers["location"]).text
        archived = client.post(path, data={"do": "archive"})
        last = client.get(archived.headers["location"]).text
        odd = client.post(path, data={"do": "erase"})

    assert "is not published; a file of the project is changed there" in early.text
    assert published.status_code == archived.status_code == 303
    assert "is published: its content never changes again" in shown
    assert "is archived: no new run can use it" in last
    assert "Archive</button>" not in last
    assert "is nothing that can be done here" in odd.text


def test_a_viewer_sees_no_buttons_and_may_change_nothing(tmp_path: Path) -> None:
    Folder(tmp_path).write(
        "rubrics/p.yaml", POLITE.format(version="1.0.0", phrases="a", about="x")
    )
    with open_project(tmp_path) as project:
        add_users(project)
        with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
            session = logged_in(client, "viewer")
            page = client.get("/rubrics/polite%401.0.0", headers=session.cookie).text
            fields = {"do": "publish", "form_token": session.form_token}
            refused = client.post("/rubrics/polite%401.0.0", data=fields, headers=session.headers)
            annotator = logged_in(client, "annotator")
            closed = client.get("/rubrics", headers=annotator.cookie)

    assert "Publish</button>" not in page
    assert refused.status_code == closed.status_code == 403


def test_judges_without_labels_say_so(client: httpx.Client) -> None:
    listed = client.get("/judges").text
    page = client.get("/judges/kind%401.0.0").text

    assert listed.index('href="/judges/kind%401.0.0"') < listed.index("/judges/accuracy")
    assert "Never validated" in listed
    assert "This judge has never been compared with people" in page
    assert "{{ output }}" in page
    assert "no target: set judges.kind.target" in page
    assert client.get("/judges/none%401.0.0").status_code == 404
    assert client.get("/judges/kind%401.0.0?validation=7").status_code == 404
