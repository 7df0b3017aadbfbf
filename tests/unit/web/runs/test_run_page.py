"""The page of a run in every state, its filters and pages, its exports and its forms."""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest

from fakes.served_runs import ServedRuns, make_runs
from servers.accounts import Session, add_users, logged_in
from servers.run_service import document, record, write_project
from servers.service import running
from steelyard import evaluate
from steelyard.model.run import RunState
from steelyard.project import Project, open_project
from steelyard.reports.verdict_words import run_word
from steelyard.usecases.runs.ownership import CANCELLING, STOPPED, UNRESUMABLE

HTML = {"accept": "text/html"}
ASKED = {"target": "echo", "rubric": "rubric/found@1.0"}
HOSTILE = "<script>alert(1)</script>"


class Site:
    """A served project with runs."""

    def __init__(self, project: Project, runs: ServedRuns, client: httpx.Client) -> None:
        self.project = project
        self.runs = runs
        self.client = client

    def page(self, run_id: str, **query: Any) -> httpx.Response:
        """The page of a run."""
        return self.client.get(f"/runs/{run_id}", params=query, headers=HTML)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    runs = make_runs(tmp_path_factory.mktemp("runs"))
    with (
        open_project(runs.root) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        yield Site(project, runs, client)


@pytest.fixture(scope="module")
def many(site: Site) -> str:
    """A run of 120 records, whose texts are not to be trusted."""
    records = [
        {
            "record_id": f"n{number:03}",
            "input": {"prompt": f"{HOSTILE} number {number}"},
            "tags": [HOSTILE if number % 2 else "even"],
        }
        for number in range(120)
    ]
    path = site.runs.root / "many.json"
    path.write_text(json.dumps(document(records)), encoding="utf-8")

    def target(prompt: str) -> str:
        return "no" if prompt.endswith("7") else f"yes, {HOSTILE}"

    run = evaluate(path, target=target, rubric="rubric/agrees@1.0", project=site.project)
    return run.run_id


def text_of(answer: httpx.Response) -> str:
    """What a reader sees."""
    body = answer.text.partition("<main")[2]
    return " ".join(unescape(re.sub("<[^>]*>", " ", body)).split())


def rows_of(answer: httpx.Response) -> list[str]:
    """The keys of the rows of records."""
    assert answer.status_code == 200, text_of(answer)
    return re.findall(r'<tr data-row="([0-9.]+)"', answer.text)


def link(answer: httpx.Response, rel: str) -> str | None:
    found = re.search(rf'href="([^"]*)" rel="{rel}"', answer.text)
    return unescape(found[1]) if found else None


def test_a_part_of_an_id_leads_to_the_whole_one(site: Site) -> None:
    answer = site.page(site.runs.done[:-2], tag="short")

    assert answer.status_code == 303
    assert answer.headers["location"] == f"/runs/{site.runs.done}?tag=short"
    assert site.page("latest").status_code == 303
    assert site.page("run_nobody").status_code == 404


def test_a_finished_run_says_its_result_in_words_and_what_to_look_at(site: Site) -> None:
    text = text_of(site.page(site.runs.done))

    assert "Completed, 1 record without a score" in text
    assert "2 of 3 answers pass." in text
    assert "8 of 8 files intact" in text
    assert "4 = 3 evaluated + 1 failed + 0 skipped" in text
    assert text.index("No score: timeout") < text.index("Not passed: says_yes")
    assert text.index("What to look at") < text.index("Slices and checks")


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ({}, ["2", "1", "0", "3"]),
        ({"sort": "index"}, ["0", "1", "2", "3"]),
        ({"sort": "-verdict"}, ["0", "3", "1", "2"]),
        ({"only": "look"}, ["2", "1"]),
        ({"only": "unscored"}, ["2"]),
        ({"passed": "false"}, ["1"]),
        ({"passed": "true"}, ["0", "3"]),
        ({"check": "says_yes", "passed": "false"}, ["1"]),
        ({"tag": "short"}, ["1", "0"]),
        ({"slice": "tags=kind"}, ["0"]),
        ({"label": "timeout"}, ["2"]),
        ({"status": "timeout"}, ["2"]),
        ({"q": "LONGER"}, ["3"]),
        ({"q": "nothing like it"}, []),
        ({"only": "read"}, []),
    ],
)
def test_records_are_filtered_by_the_address(
    site: Site, query: dict[str, str], rows: list[str]
) -> None:
    answer = site.page(site.runs.done, **query)

    assert rows_of(answer) == rows
    if not rows:
        assert "No record fits these filters." in text_of(answer)
    found = site.client.get(f"/runs/{site.runs.done}/records.csv", params=query).text
    assert [row["index"] for row in csv.DictReader(io.StringIO(found))] == rows


def test_a_filter_that_is_on_links_to_the_list_without_it(site: Site) -> None:
    html = site.page(site.runs.done, tag="short", passed="true").text
    chips = re.findall(r'<a class="chip on" href="([^"]*)"', html)

    assert [unescape(href) for href in chips] == [
        f"/runs/{site.runs.done}?tag=short#records",
        f"/runs/{site.runs.done}?passed=true#records",
    ]


def test_a_run_with_repeats_counts_rows_and_names_every_repeat(site: Site) -> None:
    page = site.page(site.runs.repeated, sort="index")
    text = text_of(page)

    assert "1–8 of 8 rows A row is a record in one repeat; filters count rows" in text
    names = re.findall(r'<tr data-row=.*?class="row-link"[^>]*>([^<]*)</a>', page.text)
    assert names[:3] == ["a (repeat 0)", "a (repeat 1)", "b (repeat 0)"]
    assert " rows" not in text_of(site.page(site.runs.done)).partition("Records")[2]


def test_chips_count_all_records(site: Site) -> None:
    text = text_of(site.page(site.runs.repeated))

    for chip in ("needs a look 4", "No score 2", "Fail 2", "Pass 4"):
        assert chip in text
    assert "pass@2" in text


@pytest.mark.parametrize(
    "query",
    [{"sort": "weight"}, {"only": "all"}, {"cursor": "x"}, {"verdict": "fail"}, {"page": "2"}],
)
def test_an_address_that_says_nothing_is_an_error(site: Site, query: dict[str, str]) -> None:
    assert site.page(site.runs.done, **query).status_code == 400


def test_pages_follow_one_another_in_both_directions(site: Site, many: str) -> None:
    first = site.page(many, sort="-index")
    assert "1–50 of 120" in text_of(first)
    assert link(first, "prev") is None

    second = site.client.get(str(link(first, "next")), headers=HTML)
    third = site.client.get(str(link(second, "next")), headers=HTML)
    back = site.client.get(str(link(third, "prev")), headers=HTML)

    assert "101–120 of 120" in text_of(third)
    assert link(third, "next") is None
    assert rows_of(first) + rows_of(second) + rows_of(third) == [
        str(number) for number in range(119, -1, -1)
    ]
    assert rows_of(back) == rows_of(second)
    assert "51–100 of 120" in text_of(back)
    begin = site.client.get(str(link(back, "prev")), headers=HTML)
    assert rows_of(begin) == rows_of(first)


def test_a_search_counts_what_it_finds(site: Site, many: str) -> None:
    assert "1–50 of 120" in text_of(site.page(many, q="number"))
    assert "1–12 of 12" in text_of(site.page(many, passed="false"))
    assert "1–12 of 12" in text_of(site.page(many, q="does not contain"))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"status": "foo"}, "invalid value 'foo' for status ; one of: cancelled, evaluated,"),
        ({"passed": "maybe"}, "'passed' cannot be 'maybe'"),
    ],
)
def test_a_wrong_filter_is_refused_in_words(site: Site, query: dict[str, str], said: str) -> None:
    answer = site.page(site.runs.done, **query)
    assert answer.status_code == 400
    assert said in text_of(answer)
    assert "$" not in text_of(answer)


def test_what_models_and_datasets_say_is_text(site: Site, many: str) -> None:
    html = site.page(many, cols="answer~tags~reason~check:says_yes").text

    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "tag=%3Cscript%3E" in html


def test_columns_are_chosen_by_the_address(site: Site) -> None:
    plain = site.page(site.runs.done).text
    chosen = site.page(site.runs.done, cols="score~tags~nothing").text

    assert '<th scope="col">says_yes</th>' in plain
    assert '<th scope="col">says_yes</th>' not in chosen
    assert "short, kind" in chosen


def test_exports_are_files(site: Site) -> None:
    report = site.client.get(f"/runs/{site.runs.done}/report.html")
    table = site.client.get(f"/runs/{site.runs.done}/records.csv")

    assert report.headers["content-disposition"].endswith(f'"{site.runs.done}.html"')
    assert "<h1>" in report.text
    assert table.headers["content-disposition"].endswith(f'"{site.runs.done}.csv"')
    assert table.headers["content-type"] == "text/csv; charset=utf-8"


def test_a_stopped_run_shows_what_it_has_and_can_be_resumed(site: Site) -> None:
    answer = site.page(site.runs.stopped)
    text = text_of(answer)

    assert answer.status_code == 200
    assert "Stopped, can be resumed" in text
    assert f"steelyard resume {site.runs.stopped}" in text
    assert "1 of 4 done" in text
    assert len(rows_of(answer)) == 1
    assert 'value="resume"' in answer.text


def test_every_state_and_standing_of_a_run_has_a_word() -> None:
    known = (*get_args(RunState), STOPPED, UNRESUMABLE, CANCELLING)

    assert {run_word(name).word.lower().replace(" ", "_") for name in known} == {
        name.lower().replace(" ", "_") for name in known
    }


def test_a_failed_run_says_so_and_shows_what_it_has(site: Site) -> None:
    store = site.project.folder / "steelyard.db"
    change = "UPDATE runs SET status = ? WHERE run_id = ?"
    with closing(sqlite3.connect(store)) as database:
        (before,) = database.execute(
            "SELECT status FROM runs WHERE run_id = ?", (site.runs.stopped,)
        ).fetchone()
        try:
            with database:
                database.execute(change, ("failed", site.runs.stopped))
            answer = site.page(site.runs.stopped)
        finally:
            with database:
                database.execute(change, (before, site.runs.stopped))

    text = text_of(answer)
    assert answer.status_code == 200
    assert "Failed" in text
    assert "The run failed before it was finished." in text
    assert "Of the records that were finished: Pass rate" in text
    assert 'value="resume"' not in answer.text


def test_pruned_runs_say_what_is_left(site: Site) -> None:
    part = site.page(site.runs.without_records)
    gone = site.page(site.runs.gone)

    assert part.status_code == 200
    assert "The records were pruned on" in text_of(part)
    assert "files intact" in text_of(part)
    assert "2 of 3 answers pass." in text_of(part)
    assert "data-row" not in part.text
    assert gone.status_code == 410
    assert "were pruned after their retention" in text_of(gone)


def test_results_that_were_changed_are_not_shown(site: Site) -> None:
    path = site.project.folder / "runs" / site.runs.repeated / "metrics_summary.json"
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"pass_count"', b'"pass_count" '))
    try:
        answer = site.page(site.runs.repeated)
    finally:
        path.write_bytes(before)

    assert answer.status_code == 409
    text = text_of(answer)
    assert "not what was sealed" in text
    assert "metrics_summary.json" in text
    assert "answers pass" not in text
    assert site.page(site.runs.repeated).status_code == 200


def test_runs_of_the_same_dataset_are_offered_to_compare_with(site: Site) -> None:
    html = unescape(site.page(site.runs.done).text)

    assert f"/compare?a={site.runs.repeated}&b={site.runs.done}" in html
    assert f"/compare?a={site.runs.gone}" not in html


@pytest.fixture
def moody(tmp_path: Path) -> Iterator[tuple[Project, str]]:
    """A project with a run of which one record has failed."""
    write_project(tmp_path)
    rows = document([record("a"), record("b", "fail, word")])
    (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
    with open_project(tmp_path) as project:
        run = evaluate("cases.json", target="moody", rubric="rubric/found@1.0", project=project)
        yield project, run.run_id


def test_forms_derive_runs_and_refuse_what_they_do_not_know(moody: tuple[Project, str]) -> None:
    project, run_id = moody
    address, graded = f"/runs/{run_id}", {"action": "regrade", "rubric": "rubric/found@1.0"}
    with running(project) as url, httpx.Client(base_url=url, timeout=30) as client:
        for form, how in (
            ({"action": "retry"}, "failed records tried again from"),
            (graded, "re-graded from"),
        ):
            answer = client.post(address, data=form)
            assert answer.status_code == 303, text_of(answer)
            new = answer.headers["location"]
            text = text_of(client.get(new, headers=HTML))
            assert how in text
            assert "The run waits for a free worker." in text
            assert client.post(new, data={"action": "cancel"}).headers["location"] == new
        wrong = [
            client.post(address, data={"action": name}) for name in ("x", "regrade", "cancel")
        ]
        assert [answer.status_code for answer in wrong] == [400, 400, 409]


def test_a_queued_run_without_a_worker_says_how_to_start_one(tmp_path: Path) -> None:
    write_project(tmp_path)
    with (
        open_project(tmp_path) as project,
        running(project, workers=0) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        posted = client.post("/v1/runs", json=document([record("a")]), params=ASKED)
        text = text_of(client.get(f"/runs/{posted.json()['run_id']}", headers=HTML))

    assert "Queued" in text
    assert "Start a worker with: steelyard worker" in text
    assert "No record is finished yet." in text


def test_progress_and_the_rate_so_far_count_the_same_rows(tmp_path: Path) -> None:
    write_project(tmp_path)
    path = tmp_path / "asked.json"
    path.write_text(json.dumps(document([record(f"r{n}") for n in range(16)])), encoding="utf-8")
    asked, is_read = list[str](), threading.Event()
    is_waiting = threading.Event()

    def target(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) == 5:
            is_waiting.set()
            is_read.wait(60)
        return "found"

    with (
        open_project(tmp_path) as project,
        running(project) as url,
        httpx.Client(base_url=url, timeout=30) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        options: dict[str, Any] = {"rubric": ASKED["rubric"], "max_concurrency": 1}
        made = pool.submit(evaluate, path, target=target, project=project, **options)
        try:
            assert is_waiting.wait(60)
            run_id = client.get("/v1/runs").json()["data"][0]["run_id"]
            while client.get(f"/v1/runs/{run_id}/records").json()["data"][3:] == []:
                assert not made.done()
            text = text_of(client.get(f"/runs/{run_id}", headers=HTML))
        finally:
            is_read.set()
        made.result()

    assert "4 of 16 done, 0 without a score" in text
    assert "of the 4 evaluated records pass" in text


def test_only_editors_see_and_use_what_changes_runs(moody: tuple[Project, str]) -> None:
    project, run_id = moody
    add_users(project)
    address = f"/runs/{run_id}"
    with (
        running(project, has_login=True) as url,
        httpx.Client(base_url=url, timeout=30) as client,
    ):
        viewer, editor = (logged_in(client, name) for name in ("viewer", "editor"))

        def shown(session: Session) -> str:
            answer = client.get(address, headers={**HTML, **session.cookie})
            assert answer.status_code == 200
            return answer.text

        def sent(session: Session, token: str) -> int:
            headers = {**session.cookie, "origin": session.origin}
            body = {"action": "retry", "form_token": token}
            return client.post(address, data=body, headers=headers).status_code

        assert client.get(address, headers=HTML).status_code == 303
        assert 'value="retry"' not in shown(viewer)
        assert 'value="retry"' in shown(editor)
        assert sent(viewer, viewer.form_token) == 403
        assert sent(editor, viewer.form_token) == 403
        assert sent(editor, editor.form_token) == 303


def test_slices_have_a_page_and_a_file_with_the_small_ones(site: Site) -> None:
    small = text_of(site.client.get(f"/runs/{site.runs.done}/slices", params={"few": "true"}))
    found = site.client.get(f"/runs/{site.runs.done}/slices.csv")
    rows = list(csv.DictReader(io.StringIO(found.text)))

    assert "Small slices" in small
    assert {row["value"] for row in rows} >= {"short", "kind"}
    assert all(row["pass_rate_n"] for row in rows)
    assert "few-slices" not in site.page(site.runs.done).text


def test_an_empty_answer_and_a_missing_number_are_said_in_words(site: Site) -> None:
    text = text_of(site.page(site.runs.done, cols="answer~cost~tokens", only="unscored"))

    assert "no answer" in text
    assert "unknown" in text
    assert "not counted" in text


def test_what_a_run_has_warned_of_is_on_its_page(tmp_path: Path) -> None:
    row = '{"id": "a", "input": "hi", "expectd_output": "x", "criteria": "<b>y</b>", '
    row += '"evaluators": [{"name": "k", "type": "contains", "value": "hi"}]}\n'
    (tmp_path / "cases.jsonl").write_text(row, encoding="utf-8")
    command = [sys.executable, "-m", "steelyard", "run", "cases.jsonl", "--target", "echo"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with open_project(tmp_path) as project, running(project) as url:
        page = httpx.get(f"{url}/runs/latest", headers=HTML, follow_redirects=True).text

    assert "unknown field 'expectd_output'" in unescape(page)
    assert re.search(r"<b>1</b> warning<", page)
