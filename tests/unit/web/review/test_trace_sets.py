"""Trace sets as pages: what has arrived, and what to do with it."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from fakes.review_project import write_review
from fakes.trace_sets import batch, hexadecimal, sent_span
from servers.site import Site, site_of
from steelyard.project import open_project
from steelyard.usecases.traces.receive_spans import receive_spans


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    """A server with two sets, one of more traces than a page has."""
    root: Path = write_review(tmp_path_factory.mktemp("sets"))
    with open_project(root) as project, site_of(project) as site:
        for name, number in (("desk", 3), ("many", 101)):
            spans = batch(*(sent_span(one, 1) for one in range(1, number + 1)))
            receive_spans(project.trace_ports(), spans, name)
        yield site


def test_sets_are_listed_with_their_size(site: Site) -> None:
    said = site.text("/trace-sets")

    assert "desk 3 3" in said
    assert "many 101 101" in said
    assert 'href="/trace-sets"' in site.open("/review").text


def test_a_set_lists_its_traces_and_offers_a_queue_and_a_judge(site: Site) -> None:
    page = site.open("/trace-sets/desk").text

    assert hexadecimal(1, 32) in page
    assert "m-1" in page
    assert 'href="/review/new?run=trace%20set%20desk"' in page.replace("+", "%20")
    assert '<option value="rubric/desk-v1">' in page
    refused = site.send("/trace-sets/desk", rubric="nothing")
    assert refused.status_code == 400
    assert "nothing" in refused.text


def test_a_long_set_is_read_in_parts(site: Site) -> None:
    first = site.open("/trace-sets/many").text
    address = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    rest = site.open(address).text

    assert hexadecimal(101, 32) not in first
    assert hexadecimal(101, 32) in rest
    assert 'rel="next"' not in rest


def test_a_judge_grades_a_set_from_its_page(site: Site) -> None:
    started = site.send("/trace-sets/desk", rubric="rubric/desk-v1")

    assert started.status_code == 303
    assert started.headers["location"].startswith("/runs/run_")


def test_trace_sets_stand_apart_from_runs_in_the_form_of_a_queue(site: Site) -> None:
    page = site.open("/review/new?run=trace%20set%20desk").text

    assert '<optgroup label="Trace sets">' in page
    assert '<option value="trace set desk" selected>desk</option>' in page


def test_a_file_of_json_lines_may_be_called_json(site: Site) -> None:
    trace = {"messages": [{"role": "assistant", "content": "A word."}]}
    lines = "".join(json.dumps({**trace, "model": name}) + "\n" for name in "abc")
    headers = {"content-type": "application/json"}
    sent = site.client.post(
        "/v1/trace-sets", params={"trace_set": "lines"}, content=lines, headers=headers
    )

    assert (sent.status_code, sent.json()["new"]) == (201, 3)
