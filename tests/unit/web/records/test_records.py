"""The page of a record and its panel, over HTTP."""

from __future__ import annotations

import re
import time
from collections.abc import Generator
from html import unescape
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from fakes.projects import Project, row
from fakes.served_runs import ServedRuns, make_runs
from fakes.targets import ScriptedTarget, fails
from servers.accounts import add_users, logged_in
from servers.service import running
from steelyard.model.message import Message, ToolCall
from steelyard.model.trace import Trace
from steelyard.ports import Request
from steelyard.project import open_project
from steelyard.results.records import RecordQuery, Sort
from steelyard.web.records.record_filters import filter_of, listed_by

_TURNS = 1000


class Site(NamedTuple):
    """A server of runs in every condition."""

    runs: ServedRuns
    url: str

    def get(self, path: str, **query: str | int) -> httpx.Response:
        """A page."""
        return httpx.get(f"{self.url}{path}", params=query, headers={"accept": "text/html"})

    def record(self, run: str, index: int, **query: str | int) -> str:
        """The text of a record's page, without tags."""
        found = self.get(f"/runs/{run}/records/{index}", **query)
        assert found.status_code == 200
        return text_of(found.text)


def text_of(html: str) -> str:
    """What a page says."""
    body = re.sub(r"<[^>]*>", " ", html.partition("<main")[2])
    return " ".join(unescape(body).split())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    """The runs, served without login."""
    runs = make_runs(tmp_path_factory.mktemp("runs"))
    with open_project(runs.root) as project, running(project) as url:
        yield Site(runs, url)


def test_a_record_shows_what_was_asked_and_answered_and_why_it_passes(site: Site) -> None:
    text = site.record(site.runs.done, 0)
    assert "a Pass, 1.00" in text
    assert "record 1 of 4" in text
    assert "User Well? Assistant turn 1 yes" in text
    assert "says_yes Pass 1.00 of 1" in text
    assert "10 tokens in, 5 out" in text
    assert "agrees@1.0.0" in text


def test_a_record_without_a_score_says_why_and_never_zero(site: Site) -> None:
    text = site.record(site.runs.done, 2)
    assert "No score: the target did not answer in time." in text
    assert "3 attempts of the target were made" in text
    assert "timeout on purpose" in text
    assert "There is no answer." in text
    assert "0.00" not in text


def test_repeats_stand_side_by_side_and_the_address_chooses_one(site: Site) -> None:
    text = site.record(site.runs.repeated, 1, repeat=1)
    assert "Repeat 1, on show" in text
    assert "repeat 1, 2 in all row 4 of 8" in text
    assert "the same words" in text
    assert "Repeat 0, on show" in site.record(site.runs.repeated, 1)
    missing = site.get(f"/runs/{site.runs.repeated}/records/1", repeat=7)
    assert missing.status_code == 404
    assert "record 1 has no repeat 7" in missing.text


class FlakyTarget(ScriptedTarget):
    """Does not answer the second of three repeats."""

    async def ask(self, request: Request) -> Trace:
        """An answer, or a timeout."""
        if request.repeat == 1:
            raise fails("timeout")
        return await super().ask(request)


@pytest.fixture(scope="module")
def flaky(site: Site) -> str:
    """A run in which the second repeat of every record has no answer."""
    project = Project(site.runs.root)
    cases = project.document([{"record_id": "flaky", "input": {"prompt": "Well?"}}])
    ports = project.ports(FlakyTarget())
    run = project.run(ports, cases, rubric="rubric/agrees@1.0", repeat=3)
    project.close()
    return run.run_id


@pytest.mark.parametrize("repeat", [0, 1, 2])
def test_a_record_opens_though_one_of_its_repeats_has_no_answer(
    site: Site, flaky: str, repeat: int
) -> None:
    text = site.record(flaky, 0, repeat=repeat)
    assert f"Repeat {repeat}, on show" in text
    assert "says_yes Pass 1.00 not graded Pass 1.00" in text


@pytest.mark.parametrize(
    ("listed", "said", "neighbours"),
    [
        ("", "record 2 of 4", ("/records/0?", "/records/2?")),
        ("passed=false", "record 1 of 1 in the filtered list", (None, None)),
        ("sort=-index", "record 3 of 4", ("/records/2?", "/records/0?")),
        ("sort=verdict", "record 2 of 4 by verdict", ("/records/2?", "/records/0?")),
        ("only=look", "record 2 of 2 in the filtered list", ("/records/2?", None)),
        ("sort=nothing", "record 2 of 4", ("/records/0?", "/records/2?")),
        ("tag=short&sort=index&unknown=x", "record 2 of 2", ("/records/0?", None)),
        ("passed=true", "not among the 2 records", (None, None)),
    ],
)
def test_neighbours_follow_the_filter_of_the_run_page(
    site: Site, listed: str, said: str, neighbours: tuple[str | None, str | None]
) -> None:
    found = site.get(f"/runs/{site.runs.done}/records/1", **{"from": listed}).text
    assert said in text_of(found)
    for rel, wanted in zip(("prev", "next"), neighbours, strict=True):
        link = re.search(rf'href="([^"]*)"[^>]*rel="{rel}"', found)
        assert (wanted is None) == (link is None)
        if link and wanted:
            assert wanted.rstrip("?") in unescape(link[1])
            assert ("from=" in link[1]) == bool(listed)


def test_raw_json_is_that_of_the_api(site: Site) -> None:
    address = f"/runs/{site.runs.done}/records/0"
    text = site.record(site.runs.done, 0, tab="json")
    assert '"record_id": "a"' in text
    assert f"/v1{address}" in text
    assert httpx.get(f"{site.url}/v1{address}").json()["record_id"] == "a"


def test_the_panel_is_a_page_with_head_tabs_and_the_whole_record_one_click_away(
    site: Site,
) -> None:
    html = site.get(f"/runs/{site.runs.done}/records/1/panel", **{"from": "sort=-score"}).text
    assert '<aside class="side' in html
    assert 'data-panel-step="-1"' in html
    assert "data-panel-close" in html
    assert "from=sort%3D-score" in html
    for tab in ("Overview", "Trace", "Attempts", "JSON"):
        assert f">{tab}</a>" in html
    assert "And now?" in html
    assert "does not contain" in html


def test_a_run_that_stopped_shows_what_it_has(site: Site) -> None:
    assert "yes" in site.record(site.runs.stopped, 0)
    pending = site.get(f"/runs/{site.runs.stopped}/records/1")
    assert pending.status_code in {200, 404}
    if pending.status_code == 200:
        assert "No result yet" in pending.text


@pytest.mark.parametrize(
    ("run", "index", "status", "message"),
    [
        ("gone", "0", 410, "were pruned"),
        ("without_records", "0", 410, "were pruned"),
        ("done", "99", 404, "no record"),
        ("done", "007", 404, "is no index of a record"),
        ("done", "a", 404, "is no index of a record"),
    ],
)
def test_what_is_not_there_says_so(
    site: Site, run: str, index: str, status: int, message: str
) -> None:
    found = site.get(f"/runs/{getattr(site.runs, run)}/records/{index}")
    assert found.status_code == status
    assert message in unescape(found.text)


def test_what_the_run_page_filters_by_is_understood() -> None:
    asked = "q=a+b&passed=true&check=c&label=l&status=timeout&sort=-score&from=101&cols=x"
    wanted = filter_of(listed_by(asked), lambda: None)
    assert wanted == RecordQuery(
        text="a b", passed=True, check="c", label="l", status="timeout", sort=Sort("score", True)
    )
    for wrong in ("passed=maybe", "sort=nothing", "only=nothing", ""):
        assert filter_of(listed_by(wrong), lambda: None) == RecordQuery()


def test_a_row_of_the_run_page_carries_its_list_along(site: Site) -> None:
    html = unescape(site.get(f"/runs/{site.runs.done}", passed="false").text)
    carried = "from=passed%3Dfalse%26sort%3Dverdict"
    assert f"/runs/{site.runs.done}/records/1?{carried}" in html
    assert f"/runs/{site.runs.done}/records/1/panel?repeat=0&{carried}" in html


def _long_trace() -> Trace:
    calls = (ToolCall(tool="look", id="c", input={"q": "x"}, output={"rows": list(range(40))}),)
    return Trace(
        messages=tuple(
            Message(
                role="assistant" if number % 2 else "user",
                content=f"Message **{number}** with a [link](https://example.org) and `code`. "
                * 5,
                tool_calls=calls if number % 10 == 1 else (),
            )
            for number in range(2 * _TURNS)
        )
    )


def test_a_thousand_turns_are_shown_in_parts_within_half_a_second(tmp_path: Path) -> None:
    project = Project(tmp_path)
    target = ScriptedTarget(otherwise=_long_trace())
    run = project.run(project.ports(target), project.cases([row("long")])).run_id
    project.close()
    with open_project(tmp_path) as opened, running(opened) as url:
        address = f"{url}/runs/{run}/records/0"
        httpx.get(address)  # templates are compiled once
        times: list[float] = []
        html = ""
        for _ in range(4):
            begin = time.perf_counter()
            html = httpx.get(address, params={"part": 11}).text
            times.append(time.perf_counter() - begin)
    assert f"Messages 1,001 to 1,100 of {2 * _TURNS + 1:,}" in text_of(html)
    assert 'id="turn-501"' in html
    assert 'id="turn-1"' not in html
    assert min(times) < 0.5
    assert len(html) < 1_000_000


def test_a_page_formats_no_more_than_it_has_time_for(site: Site) -> None:
    messages = tuple(Message(role="assistant", content="[" * 4_900) for _ in range(40))
    project = Project(site.runs.root)
    target = ScriptedTarget(otherwise=Trace(messages=messages))
    run = project.run(project.ports(target), project.cases([row("signs")])).run_id
    project.close()
    html = site.get(f"/runs/{run}/records/0").text
    formatted = html.count('<div class="read md" dir="auto"><p>[')
    assert formatted == 8, "40,000 signs"
    assert html.count('<div class="read plain" dir="auto">[') == 40 - formatted


def test_a_viewer_sees_no_form_and_may_not_send_one(site: Site) -> None:
    runs = site.runs
    with open_project(runs.root) as project:
        add_users(project)
        with running(project, has_login=True) as url, httpx.Client(base_url=url) as client:
            address = f"/runs/{runs.done}/records/0"
            viewer, editor = (logged_in(client, name) for name in ("viewer", "editor"))
            assert "Add to dataset" not in client.get(address, headers=viewer.cookie).text
            fields = {"name": "kept", "form_token": viewer.form_token}
            sent = client.post(address, data=fields, headers=viewer.headers)
            assert sent.status_code == 403
            assert "Add to dataset" in client.get(address, headers=editor.cookie).text
            forged = client.post(address, data={"name": "kept"}, headers=editor.cookie)
            assert forged.status_code == 403
            fields = {"name": "kept", "form_token": editor.form_token}
            sent = client.post(address, data=fields, headers={**editor.cookie, "origin": url})
            assert sent.status_code == 303
            page = client.get(sent.headers["location"], headers=editor.cookie).text
            assert "dataset/kept@1" in page
            assert "carried over as its dataset has it" in page


def test_a_name_that_cannot_be_taken_is_said_beside_the_field(site: Site) -> None:
    address = f"{site.url}/runs/{site.runs.done}/records/0"
    sent = httpx.post(address, data={"name": "no name"}, headers={"origin": site.url})
    assert sent.status_code == 400
    assert "cannot be the name of a dataset" in sent.text
    assert 'value="no name"' in sent.text
    assert '<details class="add-menu" open>' in sent.text


def test_only_a_dataset_that_is_there_is_said_to_hold_the_record(site: Site) -> None:
    text = site.record(site.runs.done, 0, added="dataset/evil@1", carried="source")
    assert "dataset/evil@1" not in text
