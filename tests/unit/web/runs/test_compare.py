"""The pages of comparisons and groups, over HTTP."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Generator
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from fakes.projects import Project, row
from fakes.served_runs import ServedRuns, make_runs
from fakes.targets import ScriptedTarget
from servers.service import running
from steelyard.project import open_project
from strategies.html_pages import HOSTILE, HtmlPage

GROUP = "group_of_tests"


class Site(NamedTuple):
    """A server of runs in every condition."""

    runs: ServedRuns
    url: str

    def get(self, path: str, **query: str | int) -> httpx.Response:
        """A page."""
        return httpx.get(f"{self.url}{path}", params=query, headers={"accept": "text/html"})

    def text(self, path: str, **query: str | int) -> str:
        """What a page says."""
        found = self.get(path, **query)
        assert found.status_code == 200, found.text
        return text_of(found.text)


def text_of(html: str) -> str:
    body = re.sub(r"<[^>]*>", " ", html.partition("<main")[2])
    return " ".join(unescape(body).split())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    """The runs, all of one group."""
    runs = make_runs(tmp_path_factory.mktemp("runs"))
    with open_project(runs.root) as project:
        with closing(sqlite3.connect(project.folder / "steelyard.db")) as store, store:
            store.execute("UPDATE runs SET group_id = ?", (GROUP,))
        with running(project) as url:
            yield Site(runs, url)


def test_a_comparison_says_its_verdict_and_shows_every_pair(site: Site) -> None:
    text = site.text("/compare", a=site.runs.done, b=site.runs.repeated, show="all")

    assert "Not comparable as they stand: repeats differ." in text
    assert "Taken as they are, no difference is detectable: B passes as often as A" in text
    assert "Not alike: Repeats differ: 1 in A, 2 in B." in text
    assert "Not as they stand : the two numbers do not mean the same" in text
    assert "Different 0 Worse 0 Better 0 All 3" in text
    assert "The same in both, 3" in text
    assert "2 of 2 repeats pass" in text
    assert "1 record without a score in both: c (timeout in both)" in text
    assert "people" not in text


def test_runs_are_named_as_on_the_command_line(site: Site) -> None:
    text = site.text("/compare", a=site.runs.done, b=site.runs.done)

    assert "two runs" in text
    assert "Every pair has the same verdict in both runs." in text


def test_a_search_and_a_selection_stay_in_the_addresses(site: Site) -> None:
    html = site.get(
        "/compare", a=site.runs.done, b=site.runs.done, show="all", how="plain", q="Now"
    ).text

    assert "All 1" in text_of(html)
    assert "And now?" in text_of(html)
    assert re.search(r'href="/compare\?[^"]*show=worse[^"]*"', html)
    tab = re.findall(r'href="(/compare[^"]*how=changes[^"]*)"', html)
    assert tab
    assert "q=Now" in tab[0]
    assert "show=all" in tab[0]


def test_a_search_without_a_match_says_so(site: Site) -> None:
    text = site.text("/compare", a=site.runs.done, b=site.runs.done, q="<nothing>")

    assert "No record of this list has “<nothing>”" in text


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("stopped", 409, "its files are written when it ends"),
        ("without_records", 410, "was pruned"),
        ("gone", 410, "were pruned"),
        ("run_unknown", 404, "no run"),
    ],
)
def test_what_cannot_be_compared_says_why_and_offers_others(
    site: Site, name: str, status: int, why: str
) -> None:
    run = getattr(site.runs, name, name)
    found = site.get("/compare", a=site.runs.done, b=run)

    assert found.status_code == status
    assert "These runs cannot be compared: " in text_of(found.text)
    assert why in text_of(found.text)
    assert f'value="{site.runs.repeated}"' in found.text


def test_without_two_runs_there_is_a_form_to_choose_them(site: Site) -> None:
    html = site.get("/compare").text

    assert html.count('type="radio" name="a"') == html.count('type="radio" name="b"') == 3
    assert f'name="a" value="{site.runs.done}" required aria-label' in html
    # the newest two of one dataset are chosen
    assert re.search(f'name="b" value="{site.runs.repeated}"[^>]* checked', html)
    assert re.search(f'name="a" value="{site.runs.done}"[^>]* checked', html)
    assert site.runs.stopped not in html


def test_a_form_can_be_searched(site: Site) -> None:
    assert "No finished run has “xyz”" in site.text("/compare", q="xyz")


def test_wrong_addresses_are_errors(site: Site) -> None:
    query = {"a": site.runs.done, "b": site.runs.done}

    assert site.get("/compare", **query, show="some").status_code == 400
    assert site.get("/compare", **query, page=0).status_code == 400
    assert site.get("/groups/none").status_code == 404


def test_a_group_has_a_column_for_each_run_that_can_be_read(site: Site) -> None:
    text = site.text(f"/groups/{GROUP}", show="all")

    assert "5 runs of" in text
    assert f"{site.runs.stopped} has no column: running; it has no results yet." in text
    assert f"{site.runs.gone} has no column: " in text
    assert f"{site.runs.without_records} has no column: " in text
    assert "B against A 0 0 3" in text
    assert "Different 0 No score in a run 1 All 4" in text
    assert "n = 3; raw 50.0 % to 75.0 % if the record without a score had failed or passed" in text
    assert "c Why? Timeout" in text


def test_a_group_whose_runs_agree_says_so(site: Site) -> None:
    assert "The runs agree on every record" in site.text(f"/groups/{GROUP}")
    assert "No record of this list has “xyz”" in site.text(f"/groups/{GROUP}", q="xyz")


def test_a_group_lists_the_records_without_a_score(site: Site) -> None:
    text = site.text(f"/groups/{GROUP}", show="incomplete")

    assert "c Why? Timeout" in text
    assert "a Well?" not in text


def test_a_group_of_many_runs_names_those_without_a_column(tmp_path: Path) -> None:
    project = Project(tmp_path)
    cases = project.cases([row("one")])
    runs = [
        project.run(project.ports(ScriptedTarget()), cases, group_id=GROUP).run_id
        for _ in range(13)
    ]
    project.close()
    with open_project(tmp_path) as opened, running(opened) as url:
        text = text_of(httpx.get(f"{url}/groups/{GROUP}", headers={"accept": "text/html"}).text)

    assert text.count("has no column") == 1
    assert f"{runs[-1]} has no column: not among the first 12." in text


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    project = Project(tmp_path)
    cases = project.write("cases.jsonl", json.dumps(row(HOSTILE, input=HOSTILE)))
    for answer in ("yes", HOSTILE):
        project.run(project.ports(ScriptedTarget({HOSTILE: [answer]})), cases)
    project.close()
    with open_project(tmp_path) as opened:
        with closing(sqlite3.connect(opened.folder / "steelyard.db")) as store, store:
            store.execute("UPDATE runs SET group_id = ?", (GROUP,))
        with running(opened) as url:
            pages = [
                httpx.get(f"{url}{path}", headers={"accept": "text/html"}).text
                for path in (
                    "/compare?a=latest~1&b=latest",
                    "/compare?a=latest~1&b=latest&how=plain",
                    f"/groups/{GROUP}",
                )
            ]
    for html in pages:
        page = HtmlPage(html)
        assert "img" not in page.tags
        assert html.count("<script") == 2
        assert unescape(re.sub("</?(del|ins)>", "", html)).count(HOSTILE) >= 2
